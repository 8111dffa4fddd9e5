// The values of the JSON columns.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { GEN_AI_ATTRIBUTES, OWN_METADATA } from '../otlp/attributes.js';
import { CHAT_ATTRIBUTES, CHAT_TOTALS } from '../otlp/chat-attributes.js';
import { SpanContent } from '../otlp/span-content.js';
import { choicesOf, promptOf, settingsOf } from '../shared/chat-forms.js';
import type { AnyValue } from '../otlp/any-value.js';
import { outputSummary } from '../shared/trace-json.js';

type Members = Readonly<Record<string, unknown>>;

const OWN = Object.entries(OWN_METADATA).map(([name, valueOf]) => [`openrouter.${name}`, valueOf] as const);
const OF_EMBEDDINGS = [...Object.entries(GEN_AI_ATTRIBUTES), ...OWN];
const OF_CHAT = [
  ...Object.entries(CHAT_ATTRIBUTES),
  ...Object.entries(CHAT_TOTALS).filter(([name]) => name.endsWith('_cost')),
  ...OWN,
];

/** The attributes of an OpenTelemetry span, without those that hold text of the caller. */
export function attributesOf(trace: GenerationTrace): Members {
  const attributes: Record<string, unknown> = {};
  const content = new SpanContent({ ...trace, input: null, chat: withoutContent(trace.chat) }, 0);
  for (const [name, valueOf] of trace.chat === null ? OF_EMBEDDINGS : OF_CHAT) {
    const value = valueOf(trace, content);
    if (value !== null) attributes[name] = plainValue(value);
  }
  return attributes;
}

const withoutContent = (chat: GenerationTrace['chat']): GenerationTrace['chat'] =>
  chat && { ...chat, content: null };

function plainValue(value: AnyValue): unknown {
  if ('intValue' in value) return Number(value.intValue);
  if ('arrayValue' in value) return value.arrayValue.values.map(plainValue);
  return Object.values(value)[0];
}

/** The caller's own keys and names, and the facts of the destination's flags. */
export function metadataOf({ metadata, traceName, spanName, facts }: GenerationTrace): Members {
  return {
    ...metadata,
    ...(traceName === null ? {} : { trace_name: traceName }),
    span_name: spanName,
    ...(Object.keys(facts).length === 0 ? {} : { openrouter_generation: facts }),
  };
}

export function parametersOf({ encodingFormat, inputType, chat, rerank }: GenerationTrace): Members {
  if (chat !== null) return settingsOf(chat);
  if (rerank !== null) return rerank.topN === null ? {} : { top_n: rerank.topN };
  return { encoding_format: encodingFormat, ...(inputType === null ? {} : { input_type: inputType }) };
}

export function inputOf({ input, chat }: GenerationTrace): Members | null {
  if (chat?.content) return { ...promptOf(chat.content), ...marked(chat.content.isInputTruncated) };
  if (input === null) return null;
  return { input: input.items, ...marked(input.isTruncated) };
}

const marked = (isTruncated: boolean): Members => (isTruncated ? { truncated: true } : {});

/**
 * The answers of a chat, the results of rerank, or the number and width of the vectors, never the vectors themselves; the error of a
 * failure. A chat that failed in the middle has both.
 */
export function outputOf(trace: GenerationTrace): object {
  const { chat, error } = trace;
  if (chat === null) return outputSummary(trace) ?? { error };
  return {
    ...(chat.content && { choices: choicesOf(chat.content), ...marked(chat.content.isOutputTruncated) }),
    ...(error && { error }),
  };
}
