// What spans are begun with, by whatever sends them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Span } from '@opentelemetry/api';

export interface SpanOptions {
  readonly kind: 'internal' | 'client';
  /** Belongs to no request, though it may have been begun while one was under way. */
  readonly isRoot?: boolean;
}

/** What is behind an open tracing. */
export interface Tracer {
  span<Result>(name: string, options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result>;
  request(headers: IncomingHttpHeaders, work: (span: Span) => void): void;
  close(): Promise<void>;
}
