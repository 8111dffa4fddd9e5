// The span for platforms that read the common names and have no names of their own.
import { CONTENT_ATTRIBUTES, GEN_AI_ATTRIBUTES, OLDER_ATTRIBUTES, TRACE_ATTRIBUTES } from './attributes.js';
import {
  CHAT_ATTRIBUTES,
  CHAT_CONTENT_ATTRIBUTES,
  CHAT_COPIES,
  CHAT_TOTALS,
  OLDER_CHAT_ATTRIBUTES,
} from './chat-attributes.js';
import type { SpanForms } from './otlp-delivery.js';
import type { SpanForm } from './span.js';

export const GENERIC_SPAN = {
  attributes: { ...GEN_AI_ATTRIBUTES, ...OLDER_ATTRIBUTES, ...TRACE_ATTRIBUTES, ...CONTENT_ATTRIBUTES },
  metadata: { caller: 'trace.metadata.', own: 'trace.metadata.' },
  hasEvents: true,
} satisfies SpanForm;

export const GENERIC_CHAT_SPAN = {
  attributes: { ...CHAT_ATTRIBUTES, ...CHAT_TOTALS, ...TRACE_ATTRIBUTES, ...CHAT_CONTENT_ATTRIBUTES },
  metadata: GENERIC_SPAN.metadata,
  // The conventions have other names for these: a platform that bounds attributes loses them first.
  last: { ...OLDER_CHAT_ATTRIBUTES, ...CHAT_COPIES },
  hasEvents: true,
} satisfies SpanForm;

export const GENERIC_SPANS = { embeddings: GENERIC_SPAN, chat: GENERIC_CHAT_SPAN } satisfies SpanForms;
