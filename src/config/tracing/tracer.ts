// The interface of a tracer, for all code that creates spans.
import type { IncomingHttpHeaders } from 'node:http';
import type { Span } from '@opentelemetry/api';

export interface SpanOptions {
  readonly kind: 'internal' | 'client';
  /** A span without a parent, even when it starts within a request. */
  readonly isRoot?: boolean;
}

/** The implementation behind Tracing. */
export interface Tracer {
  span<Result>(name: string, options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result>;
  request(headers: IncomingHttpHeaders, work: (span: Span) => void): void;
  close(): Promise<void>;
}
