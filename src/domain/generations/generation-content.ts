// The content of a call: the embedded texts or tokens, or the messages and answers of a chat, and its error text. It is
// stored encrypted beside the log while a destination may need it; its size is bounded, and truncation reads no more than
// it keeps.
import type { ChatChoice } from '../chat/chat-outcome.js';
import type { ChatRequest } from '../chat/chat-request.js';
import type { EmbeddingInput, MultimodalItem } from '../embeddings/embedding.js';
import { modalityOf } from '../embeddings/modality.js';
import type { RankedDocument, RerankContent, RerankRequest } from '../rerank/rerank.js';
import { keepText, MAX_ROOM } from '../text/kept-text.js';
import type { Kept } from '../text/kept-text.js';
import { keepChat } from './chat-content.js';
import type { ChatContent } from './chat-content.js';
import type { TracedContent } from './generation-trace.js';

export interface GenerationContent extends TracedContent {
  /** Absent for other operations. A chat has no items, and `isTruncated` is that of its messages. */
  readonly chat?: ChatContent;
  /** Absent for other operations. The items are the query and the documents. */
  readonly rerank?: RerankContent;
  /** The error text that the caller received; null for a success. */
  readonly errorMessage: string | null;
}

/** In UTF-8; tokens count as their JSON. Longer content is truncated. */
export const MAX_CONTENT_BYTES = MAX_ROOM;

const MAX_ERROR_BYTES = 16 * 1024;
// Overhead of an entry in JSON, so that many short entries are bounded as well.
const ENTRY_BYTES = 3;
const PART_BYTES = 1;

/** Takes the inputs in order while there is room; the first that does not fit is cut. */
export function contentOf(input: EmbeddingInput, errorMessage: string | null): GenerationContent {
  const error = errorMessage === null ? null : keepText(errorMessage, MAX_ERROR_BYTES);
  let room = MAX_CONTENT_BYTES - (error?.bytes ?? 0);
  const items: (string | readonly number[])[] = [];
  let isTruncated = false;
  for (let index = 0; index < input.items.length && !isTruncated; index++) {
    const { item, bytes, isWhole } = keepItem(input, index, room - ENTRY_BYTES);
    if (isWhole || item.length > 0) items.push(item);
    room -= bytes + ENTRY_BYTES;
    isTruncated = !isWhole;
  }
  return { items, isTruncated, errorMessage: error?.item ?? null };
}

/** The query comes before the documents. */
export function contentOfRerank(
  { query, documents }: Pick<RerankRequest, 'query' | 'documents'>,
  results: readonly RankedDocument[],
  errorMessage: string | null,
): GenerationContent {
  const items =
    documents.form === 'texts'
      ? [query, ...documents.items]
      : [{ content: [textPart(query)] }, ...documents.items];
  const content = contentOf({ ...documents, items } as EmbeddingInput, errorMessage);
  return { ...content, rerank: { results } };
}

const textPart = (text: string): MultimodalItem['content'][number] => ({ type: 'text', text });

/** Messages and answers are bounded apart: each longest text is cut first. */
export function contentOfChat(
  request: ChatRequest,
  choices: readonly ChatChoice[],
  errorMessage: string | null,
): GenerationContent {
  const { content, isInputTruncated } = keepChat(request, choices);
  return {
    items: [],
    isTruncated: isInputTruncated,
    chat: content,
    errorMessage: errorMessage === null ? null : keepText(errorMessage, MAX_ERROR_BYTES).item,
  };
}

function keepItem(input: EmbeddingInput, index: number, room: number): Kept<string | readonly number[]> {
  switch (input.form) {
    case 'texts':
      return keepText(input.items[index] ?? '', room);
    case 'tokens':
      return keepTokens(input.items[index] ?? [], room);
    case 'multimodal':
      return keepTextParts(input.items[index]?.content ?? [], room);
  }
}

function keepTokens(tokens: readonly number[], room: number): Kept<readonly number[]> {
  let bytes = 0;
  for (const [count, token] of tokens.entries()) {
    const next = bytes + String(token).length + 1;
    if (next > room) return { item: tokens.slice(0, count), bytes, isWhole: false };
    bytes = next;
  }
  return { item: tokens, bytes, isWhole: bytes <= room };
}

/** Keeps text parts only. Every part takes room, so that the walk over many parts is bounded. */
function keepTextParts(parts: MultimodalItem['content'], room: number): Kept<string> {
  const texts: string[] = [];
  let left = room;
  let isWhole = left >= 0;
  for (const part of parts) {
    left -= PART_BYTES;
    const text = modalityOf(part) === 'text' && typeof part['text'] === 'string' ? part['text'] : '';
    const kept = keepText(text, left);
    if (kept.item !== '') texts.push(kept.item);
    left -= kept.bytes;
    isWhole = kept.isWhole;
    if (!isWhole) break;
  }
  return { item: texts.join('\n'), bytes: room - left, isWhole };
}
