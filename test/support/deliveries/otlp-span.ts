// A span as a receiver reads it off a request's JSON, for tests.
import type { Attribute } from '../../../src/destination-kinds/otlp/any-value.js';

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly droppedAttributesCount?: number;
  readonly events?: readonly {
    readonly timeUnixNano: string;
    readonly name: string;
    readonly attributes: readonly Attribute[];
  }[];
  readonly status: { readonly code: number; readonly message?: string };
}
