// The number of tokens of an input before the call: exact for models with a known tokenizer, else a bound that is never
// too low.
import type { EmbeddingInput, EmbeddingItem, MultimodalItem } from '../domain/embeddings/embedding.js';
import { addTokens, modalityOf } from '../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../domain/embeddings/modality.js';
import type { ModelEndpoint } from './catalogue-model.js';
import { loadTokenizer, LONG_WORD } from './text-tokens.js';

// Start, end and separator tokens that a tokenizer may add to an input.
const SPECIAL_TOKENS = 8;
// Counting time grows with the text, and with the square of its longest word. Longer texts and words get a bound
// instead of a count.
const LONGEST_COUNTED_BYTES = 65_536;
// UTF-16 units in which words are counted: far more than any limit has tokens.
const LONGEST_SCANNED = 1_000_000;
// The most bytes of UTF-8 for one UTF-16 unit.
const MAX_BYTES_PER_UNIT = 3;
const TYPICAL_BYTES_PER_TOKEN = 4;

/**
 * An upper bound of the tokens that the provider charges for. Tokenizers of bytes or characters never produce more tokens
 * than the text has UTF-8 bytes, in its own form or normalised (NFKC). No provider charges more than its limit per input. A
 * part that is not text counts as the whole limit.
 *
 * Here and below, `added` is the size in bytes of text that is sent with each input without being part of it.
 */
export function tokenBound(input: EmbeddingInput, endpoint: ModelEndpoint, added = 0): number {
  let sum = 0;
  for (const item of input.items) sum += itemTokenBound(item, endpoint, added);
  return sum;
}

/** The same for one item. */
export function itemTokenBound(
  item: EmbeddingItem,
  { maxTokensPerInput }: Pick<ModelEndpoint, 'maxTokensPerInput'>,
  added = 0,
): number {
  return Math.min(itemBound(item) + added, maxTokensPerInput);
}

/**
 * Whether the bound of an input is at least `tokens`, as far as the lengths of its texts show: a text never has fewer
 * bytes than UTF-16 units. False: unknown.
 */
export function isCertainlyWithin(
  input: EmbeddingInput,
  { maxTokensPerInput }: ModelEndpoint,
  tokens: number,
): boolean {
  if (input.form === 'multimodal') return false;
  let rest = tokens;
  for (const { length } of input.items) {
    rest -= Math.min(length, maxTokensPerInput);
    if (rest <= 0) return true;
  }
  return false;
}

/** The same by modality: each alone could fill the input up to its bound; together they stay within the limit. */
export function tokenBounds(
  { content }: MultimodalItem,
  { maxTokensPerInput }: ModelEndpoint,
  added = 0,
): TokensByModality {
  const bounds: Partial<Record<Modality, number>> = {};
  if (added > 0) bounds.text = Math.min(added, maxTokensPerInput);
  for (const part of content) {
    const modality = modalityOf(part);
    if (modality) {
      bounds[modality] = Math.min((bounds[modality] ?? 0) + partBound(part), maxTokensPerInput);
    }
  }
  return bounds;
}

/** Charged tokens that the provider does not report. */
export interface EstimatedTokens {
  readonly tokens: number;
  /** Null where the modality of some tokens is unknown. */
  readonly byModality: TokensByModality | null;
}

/**
 * The charged tokens when the provider reports none: the exact count if possible, else a typical one. Parts that are not
 * text count at the provider's fixed rate, or without one as the limit of the input.
 */
export async function tokensWithoutUsage(
  input: EmbeddingInput,
  endpoint: ModelEndpoint,
  added = 0,
): Promise<EstimatedTokens> {
  if (input.form === 'multimodal') return estimateItems(input.items, endpoint, typicalTokens(added));
  const exact = await exactTokenCounts(input, endpoint);
  let tokens = 0;
  for (const [index, item] of input.items.entries()) {
    const count = exact?.[index] ?? (typeof item === 'string' ? typicalOfText(item) : item.length);
    tokens += Math.min(count + typicalTokens(added), endpoint.maxTokensPerInput);
  }
  return { tokens, byModality: { text: tokens } };
}

/** Of texts that are not counted; a part that is not text may have any number. */
export function usualTokens(item: EmbeddingItem): number {
  if (typeof item === 'string') return typicalOfText(item);
  if (!('content' in item)) return item.length;
  return item.content.reduce(
    (sum, { text }) => sum + (typeof text === 'string' ? typicalOfText(text) : Infinity),
    0,
  );
}

/** Of what is not counted. */
export function typicalTokens(bytes: number): number {
  return Math.ceil(bytes / TYPICAL_BYTES_PER_TOKEN);
}

function estimateItems(
  items: readonly MultimodalItem[],
  endpoint: ModelEndpoint,
  addedTokens: number,
): EstimatedTokens {
  let tokens = 0;
  let byModality: TokensByModality | null = {};
  for (const { content } of items) {
    let ofItem: TokensByModality = addedTokens > 0 ? { text: addedTokens } : {};
    let sum = addedTokens;
    for (const part of content) {
      const modality = modalityOf(part) ?? 'text';
      const count =
        typeof part['text'] === 'string'
          ? typicalOfText(part['text'])
          : (endpoint.partRates?.[modality]?.tokens ?? Infinity);
      ofItem = addTokens(ofItem, { [modality]: count });
      sum += count;
    }
    tokens += Math.min(sum, endpoint.maxTokensPerInput);
    // Beyond the limit it is unknown which parts are charged.
    byModality = byModality && sum <= endpoint.maxTokensPerInput ? addTokens(byModality, ofItem) : null;
  }
  return { tokens, byModality };
}

/** Tokens of each item. Null when the tokenizer is unknown, or the input is too long for it. */
export async function exactTokenCounts(
  input: EmbeddingInput,
  endpoint: ModelEndpoint,
): Promise<number[] | null> {
  if (input.form === 'tokens') return input.items.map((tokens) => tokens.length);
  if (input.form !== 'texts' || !usesCl100k(endpoint)) return null;
  const bytes = input.items.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > LONGEST_COUNTED_BYTES || input.items.some((text) => LONG_WORD.test(text))) return null;
  const counts: number[] = [];
  for (const index of input.items.keys()) counts.push(await countOnce(input.items, index));
  return counts;
}

/** A lower bound of the tokens of an item; `isExact`: their number. */
export interface LeastTokens {
  readonly tokens: number;
  readonly isExact: boolean;
}

/** Whether the length of an item permits more than `limit` tokens by leastTokens(). */
export function mayExceed(item: EmbeddingItem, endpoint: ModelEndpoint, limit: number): boolean {
  // Each token has a byte of UTF-8 at least, and each word a separator.
  if (typeof item === 'string')
    return usesCl100k(endpoint) ? MAX_BYTES_PER_UNIT * item.length > limit : item.length > 2 * limit;
  return 'content' in item ? textLengthOf(item) > 2 * limit : item.length > limit;
}

/**
 * The tokens that an item surely has: a count where the tokenizer is known and the item short enough, else the number of
 * words, because no tokenizer of an embedding model joins words.
 */
export async function leastTokens(
  items: EmbeddingInput['items'],
  index: number,
  endpoint: ModelEndpoint,
): Promise<LeastTokens> {
  const item = items[index];
  if (item === undefined) return { tokens: 0, isExact: true };
  if (typeof item !== 'string') {
    if (!('content' in item)) return { tokens: item.length, isExact: true };
    const words = item.content.reduce(
      (sum, { text }) => sum + (typeof text === 'string' ? wordsOf(text) : 0),
      0,
    );
    return { tokens: words, isExact: false };
  }
  const isCounted =
    usesCl100k(endpoint) && Buffer.byteLength(item) <= LONGEST_COUNTED_BYTES && !LONG_WORD.test(item);
  if (isCounted) return { tokens: await countOnce(items as readonly string[], index), isExact: true };
  return { tokens: wordsOf(item), isExact: false };
}

/** By the items of a call: the choice of endpoints, the reservation and the charge need the same counts. */
const COUNTS = new WeakMap<readonly string[], Map<number, number>>();

async function countOnce(texts: readonly string[], index: number): Promise<number> {
  const known = COUNTS.get(texts) ?? new Map<number, number>();
  COUNTS.set(texts, known);
  let count = known.get(index);
  if (count === undefined) {
    const countTokens = await loadTokenizer('cl100k');
    count = countTokens(texts[index] ?? '');
    known.set(index, count);
  }
  return count;
}

function textLengthOf({ content }: MultimodalItem): number {
  return content.reduce((sum, { text }) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/**
 * Words that contain an ASCII letter or digit: a tokenizer may drop other characters. Only separators of every tokenizer
 * count: space, tab and line breaks.
 */
function wordsOf(text: string): number {
  const length = Math.min(text.length, LONGEST_SCANNED);
  let words = 0;
  let isInWord = false;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 32 || unit === 9 || unit === 10 || unit === 13) isInWord = false;
    else if (!isInWord && isAlphanumeric(unit)) {
      isInWord = true;
      words++;
    }
  }
  return words;
}

function isAlphanumeric(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90);
}

function usesCl100k(endpoint: ModelEndpoint): boolean {
  return /^text-embedding-(?:ada-002|3-small|3-large)$/.test(endpoint.upstreamModel);
}

type Part = MultimodalItem['content'][number];

function itemBound(item: EmbeddingItem): number {
  if (typeof item === 'string') return textBound(item);
  if (!('content' in item)) return item.length;
  return item.content.reduce((sum, part) => sum + partBound(part), 0);
}

function partBound({ text }: Part): number {
  return typeof text === 'string' ? textBound(text) : Infinity;
}

function textBound(text: string): number {
  return textBytes(text) + SPECIAL_TOKENS;
}

/** The UTF-8 bytes of a text or of its normalised form (NFKC), whichever are more. */
export function textBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  // As many bytes as units: ASCII, which is its own normal form.
  if (bytes === text.length) return bytes;
  return Math.max(bytes, Buffer.byteLength(text.normalize('NFKC')));
}

function typicalOfText(text: string): number {
  return Math.max(1, typicalTokens(Buffer.byteLength(text)));
}
