// The requests of every OTLP kind, read by Google's protobuf for Python with the messages that OpenTelemetry
// publishes: independent of the default suite.
import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { tracesOfAllCases } from '../support/trace-cases.js';
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

interface Validation {
  readonly problem?: string;
  readonly spans?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly startedAt: number;
    readonly endedAt: number;
    readonly attributes: number;
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
});
