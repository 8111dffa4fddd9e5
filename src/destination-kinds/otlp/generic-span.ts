// The span for platforms that read the common names and have no names of their own.
import { CONTENT_ATTRIBUTES, GEN_AI_ATTRIBUTES, OLDER_ATTRIBUTES, TRACE_ATTRIBUTES } from './attributes.js';
import type { SpanForm } from './span.js';

export const GENERIC_SPAN = {
  attributes: { ...GEN_AI_ATTRIBUTES, ...OLDER_ATTRIBUTES, ...TRACE_ATTRIBUTES, ...CONTENT_ATTRIBUTES },
  metadata: { caller: 'trace.metadata.', own: 'trace.metadata.' },
  hasEvents: true,
} satisfies SpanForm;
