// Sends this service's own spans to the collector. The OpenTelemetry libraries read the OTEL_ variables themselves:
// endpoint, headers, time-outs, sampler, resource.
import type { IncomingHttpHeaders } from 'node:http';
import { Logger } from '@nestjs/common';
import { defaultTextMapGetter, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, Tracer as OpenTelemetryTracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '../../concurrency/with-timeout.js';
import { samplerOfEnvironment } from './operator-sampler.js';
import { LAST_SPANS_TIME } from '../shutdown-times.js';
import type { SpanOptions, Tracer } from './tracer.js';

const NAME = 'signalbox';
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;
// Milliseconds between log lines about failed exports.
const REPORT_INTERVAL = 60_000;

export class OtlpTracer implements Tracer {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: OpenTelemetryTracer;
  private readonly contexts = new AsyncLocalStorageContextManager().enable();
  private readonly propagator = new W3CTraceContextPropagator();

  constructor() {
    reportFailures();
    this.provider = new BasicTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': NAME }))
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: samplerOfEnvironment(),
      // The queue is bounded: spans that the collector does not accept in time are dropped.
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    this.tracer = this.provider.getTracer(NAME);
  }

  async span<Result>(
    name: string,
    { kind, isRoot = false }: SpanOptions,
    work: (span: Span) => Promise<Result>,
  ): Promise<Result> {
    const parent = isRoot ? ROOT_CONTEXT : this.contexts.active();
    const span = this.tracer.startSpan(name, { kind: KINDS[kind] }, parent);
    try {
      return await this.contexts.with(trace.setSpan(parent, span), () => work(span));
    } catch (error) {
      // The error's message is left out: it may quote a provider or a caller.
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  request(headers: IncomingHttpHeaders, work: (span: Span) => void): void {
    const parent = this.parentOf(headers);
    const span = this.tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
    this.contexts.with(trace.setSpan(parent, span), () => work(span));
  }

  /** The caller's trace and span without `tracestate`: collectors may sample by its content. */
  private parentOf(headers: IncomingHttpHeaders): Context {
    const extracted = this.propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const caller = trace.getSpanContext(extracted);
    if (!caller) return ROOT_CONTEXT;
    const { traceId, spanId, traceFlags } = caller;
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
  }

  async close(): Promise<void> {
    const closed = this.provider.shutdown().catch(() => undefined);
    await withTimeout(closed, LAST_SPANS_TIME, () => undefined);
  }
}

function reportFailures(): void {
  const logger = new Logger('Tracing');
  let reportedAt = -Infinity;
  setGlobalErrorHandler((error) => {
    if (performance.now() - reportedAt < REPORT_INTERVAL) return;
    reportedAt = performance.now();
    logger.warn({ error }, 'failed to send spans to the collector');
  });
}
