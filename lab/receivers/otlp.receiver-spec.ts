// The requests of every OTLP kind, read by Google's protobuf for Python with the messages that OpenTelemetry
// publishes: independent of the default suite.
import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TOOLS_CHAT } from '../../test/support/deliveries/chat-traces.js';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import { deliveringTo, encode } from '../../test/support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../../test/support/receivers/index.js';
import { tracesOfAllCases } from '../../test/support/deliveries/trace-cases.js';
import { variable } from './engines.js';

const OTLP_TYPES = [
  'arize',
  'grafana',
  'langfuse',
  'langsmith',
  'newrelic',
  'otel-collector',
  'ramp',
  'sentry',
  'webhook',
];

// Arize reads OpenInference's names.
const OPENINFERENCE_TOKENS = [
  'llm.token_count.prompt',
  'llm.token_count.completion',
  'llm.token_count.prompt_details.cache_read',
  'llm.token_count.completion_details.reasoning',
];
const GEN_AI_TOKENS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.reasoning.output_tokens',
];

interface Validation {
  readonly problem?: string;
  readonly spans?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly startedAt: number;
    readonly endedAt: number;
    readonly attributes: number;
    /** The attributes that are numbers. */
    readonly numbers: Readonly<Record<string, number>>;
  }[];
}

function check(bodies: readonly string[]): readonly Validation[] {
  const program = fileURLToPath(new URL('otlp_validator.py', import.meta.url));
  const output = execFileSync(
    variable('SIGNALBOX_OTLP_PYTHON'),
    ['-B', program, variable('SIGNALBOX_OTLP_MESSAGES')],
    { input: JSON.stringify(bodies), maxBuffer: 64 * 1024 * 1024 },
  );
  return JSON.parse(output.toString('utf8')) as Validation[];
}

describe('the validator', () => {
  const body = (span: object): string =>
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const traceId = '0123456789abcdef0123456789abcdef';

  it('rejects messages that OTLP does not have', () => {
    const validations = check([
      body({ traceId, spanName: 'unknown member' }),
      body({ traceId, kind: [3] }),
      body({ traceId: 'ASNFZ4mrze8BI0VniavN7w==' }),
      body({ traceId: traceId.slice(2) }),
      body({ traceId, startTimeUnixNano: 'yesterday' }),
      body({ traceId, attributes: [{ key: 'a', value: { intValue: 'many' } }] }),
      body({ traceId, name: '\ud800' }),
      '{"resourceSpans":[',
    ]);
    expect(validations.map((validation) => Object.keys(validation))).toEqual(
      validations.map(() => ['problem']),
    );
  });
});

describe.each(OTLP_TYPES)('%s', (type) => {
  const receiver = DESTINATION_RECEIVERS.find((candidate) => candidate.type === type)!;

  it('sends the published messages for any unusual trace', async () => {
    const delivering = deliveringTo(receiver);
    const traces = tracesOfAllCases();
    const { maxTraces } = delivering.kind.delivery.limits;
    const bodies: string[] = [];
    for (let from = 0; from < traces.length; from += maxTraces) {
      const requests = await encode(delivering, traces.slice(from, from + maxTraces));
      bodies.push(...requests.map((request) => request.body!.toString()));
    }
    const validations = check(bodies);
    expect(validations.map(({ problem }) => problem)).toEqual(validations.map(() => undefined));
    const spans = validations.flatMap((validation) => validation.spans ?? []);
    expect(spans.map(({ traceId, spanId }) => ({ traceId, spanId }))).toEqual(
      traces.map(({ traceId, spanId }) => ({ traceId, spanId })),
    );
    for (const [index, { startedAt, endedAt, attributes }] of spans.entries()) {
      expect(Math.round(startedAt / 1e6)).toBe(traces[index]!.startedAt.getTime());
      expect(Math.round(endedAt / 1e6)).toBe(traces[index]!.endedAt.getTime());
      expect(attributes).toBeGreaterThan(5);
    }
  });

  it('sends the tokens of a streamed chat with tools', async () => {
    const trace = generationTrace(7, TOOLS_CHAT);
    const requests = await encode(deliveringTo(receiver), [trace]);
    const [validation] = check(requests.map((request) => request.body!.toString()));
    const names = type === 'arize' ? OPENINFERENCE_TOKENS : GEN_AI_TOKENS;
    const { chat, promptTokens } = trace;
    const tokens = [promptTokens, chat?.completionTokens, chat?.cachedTokens, chat?.reasoningTokens];
    expect(validation?.spans).toHaveLength(1);
    expect(names.map((name) => validation?.spans?.[0]?.numbers[name])).toEqual(tokens);
  });
});
