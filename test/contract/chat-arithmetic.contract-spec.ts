// Chats with cached and reasoning tokens at every kind: the tokens and costs that a platform reads add up to its totals,
// whichever way it counts parts (docs/contract.md#deliveries).
import { describe, expect, it } from '@jest/globals';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import { buildTrace } from '../../src/domain/destinations/trace-builder.js';
import { CACHE_WRITES_CHAT, TOOLS_CHAT } from '../support/deliveries/chat-traces.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { createChatFacts } from '../support/generations/chat-generation.js';
import { createCandidate, createOpenDestination } from '../support/generations/generation-candidate.js';
import { isList, isObject } from '../support/golden/json.js';
import type { Json } from '../support/golden/json.js';
import { toReadable } from '../support/golden/readable.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';

/** 1,000 tokens of the prompt and 40 of the answer, for 0.000224 USD at the provider. */
function charged(generation: Partial<Generation>, overrun: bigint | null = null): GenerationTrace {
  const tokens = { operation: 'chat', promptTokens: 1_000, totalTokens: 1_040 } as const;
  const chat = createChatFacts({ overrun });
  const trace = buildTrace(
    createCandidate({ generation: { ...tokens, upstreamCost: 224_000_000n, ...generation, chat } }),
    createOpenDestination(),
  );
  return { ...trace, chat: { ...trace.chat!, content: CACHE_WRITES_CHAT.chat!.content } };
}

const CHATS: Readonly<Record<string, GenerationTrace>> = {
  'a streamed chat with tools, an image, cached and reasoning tokens': generationTrace(1, TOOLS_CHAT),
  'a chat that writes to the cache': generationTrace(2, CACHE_WRITES_CHAT),
  'a chat through an own provider key': charged({ cost: 0n, isByok: true }),
  'a chat whose charge is cut to its bound': charged({ cost: 100_000_001n }, 123_999_999n),
};

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
  /** The parts of the cost are those at the provider, by their names. */
  readonly isUpstream?: true;
  /** Absent: the platform adds them itself. */
  readonly totals: { readonly tokens?: string; readonly cost: string };
  /** Parts, of which none is more than its sum. */
  readonly cached?: string;
  readonly written?: string;
  readonly reasoning?: string;
  /** The cost of the tokens written to the cache, where the platform shows it. */
  readonly writtenCost?: string;
}

const OTLP: Names = {
  prompt: ['gen_ai.usage.input_tokens'],
  completion: ['gen_ai.usage.output_tokens'],
  cost: ['gen_ai.usage.input_cost', 'gen_ai.usage.output_cost'],
  totals: { tokens: 'gen_ai.usage.total_tokens', cost: 'gen_ai.usage.total_cost' },
  cached: 'gen_ai.usage.cache_read.input_tokens',
  written: 'gen_ai.usage.cache_write.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
};
const BODY: Names = {
  prompt: ['prompt_tokens'],
  completion: ['completion_tokens'],
  cost: ['upstream_inference_prompt_cost', 'upstream_inference_completions_cost'],
  isUpstream: true,
  totals: { tokens: 'total_tokens', cost: 'cost' },
  cached: 'cached_tokens',
  written: 'cache_write_tokens',
  reasoning: 'reasoning_tokens',
};
const TABLE: Names = {
  prompt: ['PROMPT_TOKENS'],
  completion: ['COMPLETION_TOKENS'],
  cost: ['gen_ai.usage.input_cost', 'gen_ai.usage.output_cost'],
  totals: { tokens: 'TOTAL_TOKENS', cost: 'TOTAL_COST' },
  cached: 'gen_ai.usage.cache_read.input_tokens',
  written: 'gen_ai.usage.cache_write.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
};

const KINDS: Readonly<Record<string, Names>> = {
  arize: {
    prompt: ['llm.token_count.prompt'],
    completion: ['llm.token_count.completion'],
    cost: ['llm.cost.prompt', 'llm.cost.completion'],
    totals: { tokens: 'llm.token_count.total', cost: 'llm.cost.total' },
    cached: 'llm.token_count.prompt_details.cache_read',
    written: 'llm.token_count.prompt_details.cache_write',
    reasoning: 'llm.token_count.completion_details.reasoning',
  },
  braintrust: {
    prompt: ['prompt_tokens'],
    completion: ['completion_tokens'],
    cost: ['estimated_cost'],
    totals: { tokens: 'tokens', cost: 'estimated_cost' },
    cached: 'prompt_cached_tokens',
    written: 'prompt_cache_creation_tokens',
    reasoning: 'completion_reasoning_tokens',
  },
  clickhouse: TABLE,
  datadog: {
    prompt: ['non_cached_input_tokens', 'cache_read_input_tokens', 'cache_write_input_tokens'],
    completion: ['output_tokens'],
    cost: ['input_cost', 'output_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_cost' },
    cached: 'cache_read_input_tokens',
    written: 'cache_write_input_tokens',
    writtenCost: 'cache_write_input_cost',
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
    cached: 'usage_details.input_cached_tokens',
    written: 'usage_details.input_cache_creation',
    reasoning: 'usage_details.output_reasoning_tokens',
  },
  langsmith: {
    prompt: ['input_tokens'],
    completion: ['output_tokens'],
    cost: ['input_cost', 'output_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_cost' },
    cached: 'cache_read',
    written: 'cache_creation',
    reasoning: 'reasoning',
  },
  newrelic: OTLP,
  opik: {
    prompt: ['prompt_tokens'],
    completion: ['completion_tokens'],
    cost: ['total_estimated_cost'],
    totals: { tokens: 'total_tokens', cost: 'total_estimated_cost' },
    cached: 'original_usage.prompt_tokens_details.cached_tokens',
    written: 'original_usage.prompt_tokens_details.cache_write_tokens',
    reasoning: 'original_usage.completion_tokens_details.reasoning_tokens',
  },
  'otel-collector': OTLP,
  posthog: {
    prompt: ['$ai_input_tokens'],
    completion: ['$ai_output_tokens'],
    cost: ['$ai_input_cost_usd', '$ai_output_cost_usd'],
    totals: { cost: '$ai_total_cost_usd' },
    cached: '$ai_cache_read_input_tokens',
    written: '$ai_cache_creation_input_tokens',
    reasoning: '$ai_reasoning_tokens',
  },
  ramp: OTLP,
  s3: BODY,
  sentry: {
    ...OTLP,
    cost: ['gen_ai.cost.input_tokens', 'gen_ai.cost.output_tokens'],
    totals: { tokens: 'gen_ai.usage.total_tokens', cost: 'gen_ai.cost.total_tokens' },
    written: 'gen_ai.usage.cache_creation.input_tokens',
    writtenCost: 'gen_ai.cost.cache_creation.input_tokens',
  },
  snowflake: TABLE,
  weave: BODY,
  webhook: OTLP,
};

it('has a row for every kind', () => {
  expect(Object.keys(KINDS)).toEqual(DESTINATION_KINDS.map(({ type }) => type));
});

async function numbersSent(type: string, trace: GenerationTrace): Promise<ReadonlyMap<string, number>> {
  const receiver = DESTINATION_RECEIVERS.find((candidate) => candidate.type === type)!;
  const requests = await encode(deliveringTo(receiver), [trace]);
  return numbersIn(toReadable(requests.map(({ body }) => ({ body: String(body) }))));
}

describe.each(Object.entries(KINDS))('%s', (type, names) => {
  it.each(Object.entries(CHATS))('adds up: %s', async (_name, trace) => {
    const numbers = await numbersSent(type, trace);
    const numberOf = (name: string): number => numbers.get(name) ?? NaN;
    const sumOf = (members: readonly string[]): number =>
      members.reduce((sum, name) => sum + numberOf(name), 0);
    const chat = trace.chat!;
    const { totals, cached, written, reasoning, writtenCost } = names;
    expect([sumOf(names.prompt), sumOf(names.completion)]).toEqual([
      trace.promptTokens,
      chat.completionTokens,
    ]);
    if (totals.tokens !== undefined) expect(numberOf(totals.tokens)).toBe(trace.totalTokens);
    const upstreamCost = chat.upstreamPromptCost! + chat.upstreamCompletionCost!;
    expect(sumOf(names.cost)).toBeCloseTo(names.isUpstream ? upstreamCost : trace.cost!, 12);
    expect(numberOf(totals.cost)).toBe(trace.cost);
    if (cached !== undefined) expect(numberOf(cached)).toBe(chat.cachedTokens);
    if (written !== undefined) expect(numberOf(written)).toBe(chat.cacheWriteTokens);
    if (reasoning !== undefined) expect(numberOf(reasoning)).toBe(chat.reasoningTokens);
    if (writtenCost !== undefined) expect(numberOf(writtenCost)).toBe(chat.cacheWriteCost);
  });
});
