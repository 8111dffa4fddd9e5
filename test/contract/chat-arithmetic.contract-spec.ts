// One streamed chat with tools, an image, cached and reasoning tokens at every kind: the tokens and costs that a platform
// reads add up to its totals, whichever way it counts parts (docs/contract.md#destinations).
import { describe, expect, it } from '@jest/globals';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { readGolden } from '../support/golden/golden-files.js';
import { isList, isObject } from '../support/golden/json.js';
import type { Json } from '../support/golden/json.js';

const PROMPT = 1_000;
const CACHED = 800;
const COMPLETION = 40;
const REASONING = 30;
const TOTAL_COST = 0.000224;

/** The numbers of a payload by the names of their members or attributes, alone and behind their parent's; first ones. */
function numbersIn(
  value: Json,
  found = new Map<string, number>(),
  name = '',
  parent = '',
): Map<string, number> {
  const plain = typeof value === 'string' ? parsed(value) : value;
  if (typeof plain === 'number') {
    const qualified = `${parent.replace(/^.*\./, '')}.${name}`;
    for (const key of [name, qualified]) if (!found.has(key)) found.set(key, plain);
  } else if (isList(plain)) for (const item of plain) numbersIn(item, found, name, parent);
  else if (isObject(plain)) {
    for (const [member, content] of Object.entries(plain)) {
      // OpenTelemetry wraps its values, readable goldens mark parsed texts.
      const isWrapper = /^(\$(json|lines|attributes)|\w+Value)$/.test(member);
      numbersIn(content, found, isWrapper ? name : member, isWrapper ? parent : name);
    }
  }
  return found;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

interface Names {
  /** Their sums are the prompt, the completion and the cost. */
  readonly prompt: readonly string[];
  readonly completion: readonly string[];
  readonly cost: readonly string[];
  /** Absent: the platform adds them itself. */
  readonly totals: { readonly tokens?: string; readonly cost: string };
  /** Parts, of which none is more than its sum. */
  readonly cached?: string;
  readonly reasoning?: string;
}

const OTLP: Names = {
  prompt: ['gen_ai.usage.input_tokens'],
  completion: ['gen_ai.usage.output_tokens'],
  cost: ['gen_ai.usage.input_cost', 'gen_ai.usage.output_cost'],
  totals: { tokens: 'gen_ai.usage.total_tokens', cost: 'gen_ai.usage.total_cost' },
  cached: 'gen_ai.usage.cache_read.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
};
const BODY: Names = {
  prompt: ['prompt_tokens'],
  completion: ['completion_tokens'],
  cost: ['upstream_inference_prompt_cost', 'upstream_inference_completions_cost'],
  totals: { tokens: 'total_tokens', cost: 'cost' },
  cached: 'cached_tokens',
  reasoning: 'reasoning_tokens',
};
const TABLE: Names = {
  prompt: ['PROMPT_TOKENS'],
  completion: ['COMPLETION_TOKENS'],
  cost: ['gen_ai.usage.input_cost', 'gen_ai.usage.output_cost'],
  totals: { tokens: 'TOTAL_TOKENS', cost: 'TOTAL_COST' },
  cached: 'gen_ai.usage.cache_read.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
};

const KINDS: Readonly<Record<string, Names>> = {
  arize: {
    prompt: ['llm.token_count.prompt'],
    completion: ['llm.token_count.completion'],
    cost: ['llm.cost.prompt', 'llm.cost.completion'],
    totals: { tokens: 'llm.token_count.total', cost: 'llm.cost.total' },
    cached: 'llm.token_count.prompt_details.cache_read',
    reasoning: 'llm.token_count.completion_details.reasoning',
  },
  braintrust: {
    prompt: ['prompt_tokens'],
    completion: ['completion_tokens'],
    cost: ['estimated_cost'],
    totals: { tokens: 'tokens', cost: 'estimated_cost' },
    cached: 'prompt_cached_tokens',
    reasoning: 'completion_reasoning_tokens',
  },
  clickhouse: TABLE,
  datadog: {
    prompt: ['non_cached_input_tokens', 'cache_read_input_tokens', 'cache_write_input_tokens'],
    completion: ['output_tokens'],
    cost: ['input_cost', 'output_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_cost' },
    cached: 'cache_read_input_tokens',
    reasoning: 'reasoning_output_tokens',
  },
  grafana: OTLP,
  // It adds its buckets: the parts are taken out of the whole.
  langfuse: {
    prompt: [
      'usage_details.input',
      'usage_details.input_cached_tokens',
      'usage_details.input_cache_creation',
    ],
    completion: ['usage_details.output', 'usage_details.output_reasoning_tokens'],
    cost: ['cost_details.input', 'cost_details.output'],
    totals: { tokens: 'usage_details.total', cost: 'cost_details.total' },
  },
  langsmith: {
    prompt: ['input_tokens'],
    completion: ['output_tokens'],
    cost: ['input_cost', 'output_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_cost' },
    cached: 'cache_read',
    reasoning: 'reasoning',
  },
  newrelic: OTLP,
  opik: {
    prompt: ['prompt_tokens'],
    completion: ['completion_tokens'],
    cost: ['total_estimated_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_estimated_cost' },
    cached: 'original_usage.prompt_tokens_details.cached_tokens',
    reasoning: 'original_usage.completion_tokens_details.reasoning_tokens',
  },
  'otel-collector': OTLP,
  posthog: {
    prompt: ['$ai_input_tokens'],
    completion: ['$ai_output_tokens'],
    cost: ['$ai_input_cost_usd', '$ai_output_cost_usd'],
    totals: { cost: '$ai_total_cost_usd' },
    cached: '$ai_cache_read_input_tokens',
    reasoning: '$ai_reasoning_tokens',
  },
  ramp: OTLP,
  s3: BODY,
  sentry: {
    ...OTLP,
    cost: ['gen_ai.cost.input_tokens', 'gen_ai.cost.output_tokens'],
    totals: { tokens: 'gen_ai.usage.total_tokens', cost: 'gen_ai.cost.total_tokens' },
  },
  snowflake: TABLE,
  weave: BODY,
  webhook: OTLP,
};

it('has a row for every kind', () => {
  expect(Object.keys(KINDS)).toEqual(DESTINATION_KINDS.map(({ type }) => type));
});

describe.each(Object.entries(KINDS))(
  '%s',
  (type, { prompt, completion, cost, totals, cached, reasoning }) => {
    it('adds up', async () => {
      const numbers = numbersIn(await readGolden(`${type}.chat`));
      const sumOf = (names: readonly string[]): number =>
        names.reduce((sum, name) => sum + (numbers.get(name) ?? NaN), 0);
      expect([sumOf(prompt), sumOf(completion)]).toEqual([PROMPT, COMPLETION]);
      if (totals.tokens !== undefined) expect(numbers.get(totals.tokens)).toBe(PROMPT + COMPLETION);
      expect(sumOf(cost)).toBeCloseTo(TOTAL_COST, 12);
      expect(numbers.get(totals.cost)).toBe(TOTAL_COST);
      if (cached !== undefined) expect(numbers.get(cached)).toBe(CACHED);
      if (reasoning !== undefined) expect(numbers.get(reasoning)).toBe(REASONING);
    });
  },
);
