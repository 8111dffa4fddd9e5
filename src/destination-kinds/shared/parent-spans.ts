// The parent of a call's span: the one that the caller names, or none. A platform that never receives the caller's own
// span hides or drops a call that refers to it (docs/contract.md#deliveries).
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { ChoiceField } from './config-fields.js';

/** `link`: the caller's span is sent as the parent. `root`: the call is a root, and the parent's id is metadata. */
export type ParentSpans = 'link' | 'root';

export interface ParentSpansConfig {
  readonly parentSpans: ParentSpans;
}

/** The choice between the two, with the default of the kind. */
export function ParentSpansField(byDefault: ParentSpans): PropertyDecorator {
  return ChoiceField({
    description:
      "Handling of a caller's `parent_span_id`. `link` sends it as the parent: right where the caller's own tracer sends to the same project. `root` sends the call as a root and keeps the id as metadata.",
    values: ['link', 'root'],
    default: byDefault,
  });
}

/** The parent to send; null: the call is a root. */
export function parentOf(
  { parentSpans }: ParentSpansConfig,
  { parentSpanId }: GenerationTrace,
): string | null {
  return parentSpans === 'link' ? parentSpanId : null;
}
