// Spans of this service's own work. Unless the environment names a collector, tracing is off and OpenTelemetry is not
// loaded.
import type { IncomingHttpHeaders } from 'node:http';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { AppConfig } from '../app-config.js';
import type { SpanOptions, Tracer } from './tracer.js';

/** The work sets the attributes. Without a tracer it receives `null` and builds none. */
export class Tracing implements OnApplicationShutdown {
  constructor(private readonly tracer: Tracer | null) {}

  /** A span around the work; it fails when the work throws. */
  span<Result>(
    name: string,
    options: SpanOptions,
    work: (span: Span | null) => Promise<Result>,
  ): Promise<Result> {
    return this.tracer === null ? work(null) : this.tracer.span(name, options, work);
  }

  /** The span of a request, which continues the caller's trace. The work ends it. */
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
