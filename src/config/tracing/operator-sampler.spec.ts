// The operator's sampler decides for any trace that a caller sends.
import { afterEach, describe, expect, it } from '@jest/globals';
import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api';
import type { Context, Span } from '@opentelemetry/api';
import { BasicTracerProvider, SamplingDecision } from '@opentelemetry/sdk-trace-base';
import { samplerOfEnvironment } from './operator-sampler.js';

const CALLS = 2_000;
/** Every ratio sampler samples this trace id. */
const ALWAYS_SAMPLED = '00000000000000010000000000000001';
/** A ratio sampler below 1 never samples this trace id. */
const NEVER_SAMPLED = 'ffffffffffffffffffffffffffffffff';

afterEach(() => {
  delete process.env['OTEL_TRACES_SAMPLER'];
  delete process.env['OTEL_TRACES_SAMPLER_ARG'];
});

function configure(sampler: string, ratio = ''): void {
  process.env['OTEL_TRACES_SAMPLER'] = sampler;
  process.env['OTEL_TRACES_SAMPLER_ARG'] = ratio;
}

const ofCaller = (traceFlags: TraceFlags, traceId = ALWAYS_SAMPLED): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: 'b7ad6b7169203331', traceFlags, isRemote: true });

function sharesOf(contexts: readonly Context[]): number[] {
  const sampler = samplerOfEnvironment();
  return contexts.map((context) => {
    const { traceId = NEVER_SAMPLED } = trace.getSpanContext(context) ?? {};
    const sampled = Array.from({ length: CALLS }, () =>
      sampler.shouldSample(context, traceId, 'request', SpanKind.SERVER, {}, []),
    ).filter(({ decision }) => decision === SamplingDecision.RECORD_AND_SAMPLED);
    return sampled.length / CALLS;
  });
}

const EVERY_CALLER = [TraceFlags.NONE, TraceFlags.SAMPLED].flatMap((flag) =>
  [ALWAYS_SAMPLED, NEVER_SAMPLED].map((traceId) => ofCaller(flag, traceId)),
);

describe('a caller with a trace of its own', () => {
  it.each(['', 'always_on', 'parentbased_always_on'])('is always sampled with %j', (name) => {
    configure(name);
    expect(sharesOf(EVERY_CALLER)).toEqual([1, 1, 1, 1]);
  });

  it.each(['always_off', 'parentbased_always_off'])('is never sampled with %j', (name) => {
    configure(name);
    expect(sharesOf(EVERY_CALLER)).toEqual([0, 0, 0, 0]);
  });

  it.each(['traceidratio', 'parentbased_traceidratio'])(
    "is sampled at the operator's rate with %j, whatever flag and trace id it sends",
    (name) => {
      configure(name, '0.25');
      for (const share of sharesOf(EVERY_CALLER)) {
        expect(share).toBeGreaterThan(0.15);
        expect(share).toBeLessThan(0.35);
      }
    },
  );
});

it.each([0, 1])('spans within a request follow the request, at a rate of %d', (ratio) => {
  configure('traceidratio', String(ratio));
  const tracer = new BasicTracerProvider({ sampler: samplerOfEnvironment() }).getTracer('test');
  const isSampled = (span: Span) => span.isRecording();
  const request = tracer.startSpan('request', {}, ofCaller(TraceFlags.SAMPLED, NEVER_SAMPLED));
  const inner = tracer.startSpan('embeddings', {}, trace.setSpan(ROOT_CONTEXT, request));
  expect([request, inner].map(isSampled)).toEqual([ratio === 1, ratio === 1]);
  expect(inner.spanContext().traceId).toBe(NEVER_SAMPLED);
});
