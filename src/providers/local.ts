// The embedded models, for trials and tests without a provider.
//
// `local/hashing`: signed feature hashing of words and character n-grams, normalised to length one.
// It needs no download and no network and is the same on every machine. It compares spelling, not meaning: texts with
// the same words are close, paraphrases are not.
//
// `local/echo` is no language model: it repeats the last message of the user, word by word.
import type { Pace } from '../concurrency/yield-queue.js';
import type { ChatRequest } from '../domain/chat/chat-request.js';
import type { EmbeddingInput, MultimodalItem } from '../domain/embeddings/embedding.js';
import { UnsupportedRequest } from './shared/provider.js';
import type { ChatCall } from './shared/chat-wire.js';
import { chatProblems } from './shared/chat/chat-problems.js';
import type { SupportTraits } from './shared/chat/chat-traits.js';
import type { LocalProvider, ProviderAnswer, ProviderCall } from './shared/provider.js';

const DEFAULT_DIMENSIONS = 1024;
const SHORTEST_GRAM = 3;
const LONGEST_GRAM = 5;
// A whole word weighs more than a part. Both weights are exact in binary, so that opposite signs cancel to zero.
const WORD_WEIGHT = 1;
const GRAM_WEIGHT = 0.5;
const WORDS = /[\p{L}\p{N}]+/gu;
const MAX_CHARACTERS = 1_000_000;
// Characters of a piece. A text without a space within this length is cut.
const PIECE_LENGTH = 10_000;

export const local: LocalProvider = {
  transport: 'local',
  slug: 'local',
  name: 'Local',
  billing: {},
  async embed(call: ProviderCall, pace: Pace): Promise<ProviderAnswer> {
    const dimensions = call.dimensions ?? DEFAULT_DIMENSIONS;
    const items = itemsOf(call.input);
    const vectors: ProviderAnswer['vectors'][number][] = [];
    let tokens = 0;
    for (const item of items) {
      const sums = new FeatureSums(dimensions);
      tokens +=
        typeof item === 'string' ? await addText(sums, item, pace) : await addTokens(sums, item, pace);
      vectors.push({ form: 'floats', values: sums.toUnitVector() });
      if (pace.isDue) await pace.yieldNow();
    }
    return { vectors, promptTokens: tokens, totalTokens: tokens, upstreamId: null };
  },
  chat: {
    problems: (request, endpoint) => chatProblems(request, endpoint, ECHO_TRAITS),
    cancellation: 'stops_always',
    respond: echo,
  },
};

const ECHO_TRAITS: SupportTraits = { members: { user: 'keep' }, mediaUrls: 'refused' };
const NOTHING_TO_REPEAT = 'local/echo repeats the last message of the user, and found none.';
// The tokens of this model: a word with the space before it, in pieces of bounded length.
const TOKENS = /\s{0,64}\S{1,64}|\s{1,64}/gu;
const END_OF_STREAM = Buffer.from('data: [DONE]\n\n');

async function* echo(call: ChatCall, pace: Pace): AsyncGenerator<Buffer> {
  const { request, endpoint } = call;
  const limit = call.maxOutputTokens ?? endpoint.maxOutputTokens ?? endpoint.contextLength;
  const text = lastUserText(request) || NOTHING_TO_REPEAT;
  let content = '';
  let completionTokens = 0;
  let finishReason = 'stop';
  for (const [token] of text.matchAll(TOKENS)) {
    if (completionTokens === limit) {
      finishReason = 'length';
      break;
    }
    const role = completionTokens === 0 ? { role: 'assistant' } : {};
    if (request.isStreamed) yield eventOf({ choices: [choiceOf({ ...role, content: token }, null)] });
    else content += token;
    completionTokens++;
    if (pace.isDue) await pace.yieldNow();
  }
  const promptTokens = await countTokens(request, pace);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  if (request.isStreamed) {
    yield eventOf({ choices: [choiceOf({}, finishReason)] });
    yield eventOf({ choices: [], usage });
    yield END_OF_STREAM;
  } else {
    const message = { role: 'assistant', content };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    yield Buffer.from(JSON.stringify({ object: 'chat.completion', model: 'echo', choices, usage }));
  }
}

function choiceOf(delta: object, finishReason: string | null): object {
  return { index: 0, delta, finish_reason: finishReason };
}

function eventOf(members: object): Buffer {
  const chunk = { object: 'chat.completion.chunk', model: 'echo', ...members };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

function lastUserText({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return last ? textOfMessage(last) : '';
}

function textOfMessage({ content }: ChatRequest['messages'][number]): string {
  if (content === null || typeof content === 'string') return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

async function countTokens({ messages }: ChatRequest, pace: Pace): Promise<number> {
  let count = 0;
  for (const message of messages)
    for (const _token of textOfMessage(message).matchAll(TOKENS)) {
      count++;
      if (pace.isDue) await pace.yieldNow();
    }
  return count;
}

function itemsOf(input: EmbeddingInput): readonly (string | readonly number[])[] {
  const items = input.form === 'multimodal' ? input.items.map(textOf) : input.items;
  items.forEach((item, index) => {
    if (item.length > MAX_CHARACTERS) {
      throw new UnsupportedRequest(
        { index, path: '' },
        `local/hashing takes at most ${MAX_CHARACTERS} characters`,
      );
    }
  });
  return items;
}

function textOf(item: MultimodalItem, index: number): string {
  const texts = item.content.map(({ type, text }) => {
    if (type === 'text' && typeof text === 'string') return text;
    throw new UnsupportedRequest({ index, path: '' }, 'local/hashing takes text only');
  });
  return texts.join('\n');
}

/** Returns the number of words, which count as the tokens of this model. */
async function addText(sums: FeatureSums, text: string, pace: Pace): Promise<number> {
  let count = 0;
  for (let start = 0; start < text.length;) {
    const end = endOfPiece(text, start);
    const piece = text.slice(start, end).normalize('NFKC').toLowerCase();
    const words = piece.match(WORDS) ?? [];
    for (const word of words) {
      sums.add(hashText('w', word), WORD_WEIGHT);
      addGrams(sums, `<${word}>`);
    }
    count += words.length;
    start = end;
    if (pace.isDue) await pace.yieldNow();
  }
  if (count > 0) return count;
  // A text of punctuation or space is one feature, because a vector must not be zero.
  sums.add(hashText('r', text), WORD_WEIGHT);
  return 1;
}

/** Ends a piece behind a space if there is one, so that piece boundaries do not change words and n-grams. */
function endOfPiece(text: string, start: number): number {
  const end = start + PIECE_LENGTH;
  if (end >= text.length) return text.length;
  const space = Math.max(text.lastIndexOf(' ', end - 1), text.lastIndexOf('\n', end - 1));
  if (space >= start) return space + 1;
  const splitsPair = isHighSurrogate(text.charCodeAt(end - 1));
  return splitsPair ? end - 1 : end;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function addGrams(sums: FeatureSums, marked: string): void {
  for (let start = 0; start + SHORTEST_GRAM <= marked.length; start++) {
    let hash = FIRST_HASH;
    const end = Math.min(start + LONGEST_GRAM, marked.length);
    for (let at = start; at < end; at++) {
      hash = imul(hash ^ marked.charCodeAt(at), PRIME);
      if (at - start + 1 >= SHORTEST_GRAM) sums.add(mix(hash), GRAM_WEIGHT);
    }
  }
}

async function addTokens(sums: FeatureSums, tokens: readonly number[], pace: Pace): Promise<number> {
  for (let start = 0; start < tokens.length; start += PIECE_LENGTH) {
    const piece = tokens.slice(start, start + PIECE_LENGTH);
    for (const token of piece) sums.add(hashText('t', String(token)), WORD_WEIGHT);
    if (pace.isDue) await pace.yieldNow();
  }
  return tokens.length;
}

/** One sum per dimension; the hash of a feature selects the dimension and the sign. */
class FeatureSums {
  private readonly sums: Float64Array;
  private lastHash = 0;

  constructor(dimensions: number) {
    this.sums = new Float64Array(dimensions);
  }

  add(hash: number, weight: number): void {
    const dimension = (hash & 0x7fffffff) % this.sums.length;
    this.sums[dimension] = (this.sums[dimension] ?? 0) + (hash < 0 ? -weight : weight);
    this.lastHash = hash;
  }

  toUnitVector(): Float32Array {
    const { sums } = this;
    let squares = 0;
    for (const sum of sums) squares += sum * sum;
    if (squares === 0) {
      // Opposite signs cancelled all features of a short text; the last feature represents it.
      sums[(this.lastHash & 0x7fffffff) % sums.length] = 1;
      squares = 1;
    }
    const scale = 1 / Math.sqrt(squares);
    const values = new Float32Array(sums.length);
    for (let index = 0; index < values.length; index++) values[index] = (sums[index] ?? 0) * scale;
    return values;
  }
}

// FNV-1a over UTF-16 code units with a finishing mix, 32 bits. Stored vectors depend on it: never change it.
const { imul } = Math;
const FIRST_HASH = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

function hashText(marker: string, text: string): number {
  let hash = imul(FIRST_HASH ^ marker.charCodeAt(0), PRIME);
  for (let at = 0; at < text.length; at++) hash = imul(hash ^ text.charCodeAt(at), PRIME);
  return mix(hash);
}

function mix(hash: number): number {
  let mixed = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
