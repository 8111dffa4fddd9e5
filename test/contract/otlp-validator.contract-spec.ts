// The validator of OTLP requests rejects invalid requests.
import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { OtlpProblem, validateTraceRequest } from '../support/receivers/otlp-validator.js';
import { otelCollectorReceiver } from '../support/receivers/otel-collector.js';

type Json = Record<string, unknown>;
type Span = Json & { attributes: { key: string; value: Json }[]; status: Json };

/** A valid request of one span, corrupted in one place. */
async function corrupted(corrupt: (span: Span, request: Json) => void): Promise<Buffer> {
  const [request] = await encode(deliveringTo(otelCollectorReceiver), [
    generationTrace(1, { parentSpanId: '00f067aa0ba902b7' }),
  ]);
  const json = JSON.parse(request!.body!.toString()) as Json;
  const [{ scopeSpans }] = json['resourceSpans'] as [{ scopeSpans: [{ spans: [Span] }] }];
  corrupt(scopeSpans[0].spans[0], json);
  return Buffer.from(JSON.stringify(json));
}

describe('the validator of OTLP requests', () => {
  it('accepts a valid request, and reads it', async () => {
    const [span, ...others] = validateTraceRequest(await corrupted(() => {}));
    expect(others).toEqual([]);
    expect(span).toMatchObject({
      traceId: '0193a1b2c3d470008000000000000001',
      spanId: 'abcd000000000001',
      parentSpanId: '00f067aa0ba902b7',
      status: { code: 1, message: '' },
    });
    expect(span!.attributes.get('gen_ai.usage.input_tokens')).toBe(9n);
    expect(span!.attributes.get('gen_ai.request.encoding_formats')).toEqual(['float']);
    expect(span!.resource.get('service.name')).toBe('openrouter');
  });

  it('accepts a request without spans', () => {
    expect(validateTraceRequest(Buffer.from('{"resourceSpans":[]}'))).toEqual([]);
    expect(validateTraceRequest(Buffer.from('{}'))).toEqual([]);
  });

  it.each<[string, (span: Span, request: Json) => void, string]>([
    ['an unknown member of the request', (_span, request) => (request['extra'] = 1), 'extra'],
    ['an unknown member of a span', (span) => (span['latency'] = 1), 'latency'],
    [
      'a member under its name in the source',
      (span) => (span['trace_id'] = span['traceId']),
      'lowerCamelCase',
    ],
    [
      'an id in base64',
      (span) => (span['traceId'] = Buffer.from(span['traceId'] as string, 'hex').toString('base64')),
      '32 hex digits',
    ],
    ['an id that is too short', (span) => (span['spanId'] = 'abcd'), '16 hex digits'],
    ['an id of zeros', (span) => (span['spanId'] = '0'.repeat(16)), 'all zeros'],
    ['a span without an id', (span) => delete span['traceId'], 'without ids'],
    ['an enumeration by name', (span) => (span['kind'] = 'SPAN_KIND_CLIENT'), 'kind: not a number'],
    ['an enumeration as text', (span) => (span.status['code'] = '2'), 'code: not a number'],
    [
      'a number where text belongs',
      (span) => (span.attributes[0]!.value = { stringValue: 7 }),
      'string_value',
    ],
    [
      'text where a number belongs',
      (span) => (span.attributes[0]!.value = { doubleValue: 'much' }),
      'double_value',
    ],
    ['an integer with a fraction', (span) => (span.attributes[0]!.value = { intValue: 1.5 }), 'int_value'],
    ['a number beyond JSON', (span) => (span.attributes[0]!.value = { doubleValue: null }), 'null'],
    ['a bare value', (span) => (span.attributes[0]!.value = 'bare' as unknown as Json), 'AnyValue'],
    ['no value', (span) => (span.attributes[0]!.value = {}), 'the value undefined'],
    [
      'two values in one',
      (span) => (span.attributes[0]!.value = { stringValue: 'a', boolValue: true }),
      'oneof',
    ],
    ['attributes as an object', (span) => (span.attributes = { a: 1 } as unknown as Span['attributes']), ''],
    ['an attribute twice', (span) => span.attributes.push(span.attributes[0]!), 'twice'],
    ['an attribute without a name', (span) => (span.attributes[0]!.key = ''), 'without a name'],
    ['a time as a number', (span) => (span['startTimeUnixNano'] = 1_795_255_200_001), 'string of digits'],
    ['a time as a date', (span) => (span['endTimeUnixNano'] = '2026-11-21T10:00:00Z'), 'string of digits'],
    ['an end before the start', (span) => (span['endTimeUnixNano'] = '1'), 'ends before'],
    ['a span without a name', (span) => (span['name'] = ''), 'without a name'],
    ['half a character', (span) => (span['name'] = '\ud800'), 'half a character'],
  ])('rejects %s', async (_what, corrupt, reason) => {
    const request = await corrupted(corrupt);
    expect(() => validateTraceRequest(request)).toThrow(OtlpProblem);
    expect(() => validateTraceRequest(request)).toThrow(reason);
  });

  it('rejects the same span twice', async () => {
    const request = JSON.parse((await corrupted(() => {})).toString()) as { resourceSpans: unknown[] };
    request.resourceSpans.push(request.resourceSpans[0]);
    expect(() => validateTraceRequest(Buffer.from(JSON.stringify(request)))).toThrow('the span id');
  });

  it.each(['', '{', '[]', 'null', '"text"', '{"resourceSpans":{}}'])('rejects %j', (body) => {
    expect(() => validateTraceRequest(Buffer.from(body))).toThrow(OtlpProblem);
  });

  it('rejects bytes that are not UTF-8', () => {
    expect(() => validateTraceRequest(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not UTF-8');
  });
});
