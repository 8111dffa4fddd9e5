// The operator's sampler alone decides which requests are traced. A caller's sampling flag could hide its calls or
// flood the collector; a chosen trace id could do the same to a ratio.
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api';
import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Sampler, SamplingResult } from '@opentelemetry/sdk-trace-base';

const SAMPLED: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const NOT_SAMPLED: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

export class OperatorSampler implements Sampler {
  private readonly ids = new RandomIdGenerator();

  constructor(private readonly root: Sampler) {}

  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    const parent = trace.getSpan(context);
    if (parent && parent.spanContext().isRemote !== true) return parent.isRecording() ? SAMPLED : NOT_SAMPLED;
    const sampledId = parent ? this.ids.generateTraceId() : traceId;
    return this.root.shouldSample(ROOT_CONTEXT, sampledId, name, kind, attributes, links);
  }

  toString(): string {
    return `OperatorSampler{${this.root.toString()}}`;
  }
}

/** Reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. `parentbased_` has no effect: no parent is trusted. */
export function samplerOfEnvironment(): Sampler {
  const name = getStringFromEnv('OTEL_TRACES_SAMPLER')?.replace(/^parentbased_/, '');
  if (name === 'always_off') return new OperatorSampler(new AlwaysOffSampler());
  if (name === 'traceidratio') {
    const ratio = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;
    return new OperatorSampler(new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1));
  }
  return new OperatorSampler(new AlwaysOnSampler());
}
