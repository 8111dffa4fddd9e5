// Spans of this service's own work. Off, and nothing of OpenTelemetry even loaded, unless the environment names a
// collector.
import type { IncomingHttpHeaders } from 'node:http';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { AppConfig } from './app-config.js';
import type { SpanOptions, Tracer } from './tracer.js';

/** Attributes are set by whoever does the work: with `null` there is no span, and nothing to put together for one. */
export class Tracing implements OnApplicationShutdown {
  constructor(private readonly tracer: Tracer | null) {}

  /** A span around the work, failed when the work throws. */
  span<Result>(
    name: string,
    options: SpanOptions,
    work: (span: Span | null) => Promise<Result>,
  ): Promise<Result> {
    return this.tracer === null ? work(null) : this.tracer.span(name, options, work);
  }

  /** The span of a request, which goes on with the caller's trace; whoever does the work also ends it. */
  request(headers: IncomingHttpHeaders, work: (span: Span | null) => void): void {
    if (this.tracer === null) work(null);
    else this.tracer.request(headers, work);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.tracer?.close();
  }
}

export async function openTracing(config: AppConfig): Promise<Tracing> {
  if (!config.tracesItself) return new Tracing(null);
  const { OtlpTracer } = await import('./otlp-tracer.js');
  return new Tracing(new OtlpTracer());
}
