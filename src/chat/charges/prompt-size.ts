// The size of a prompt before the call: bytes of its texts and counts of its parts, from which every endpoint's bound
// follows. Tokenizers make at most one token of each byte (docs/contract.md#chat-spend).
import { textBytes } from '../../catalogue/token-count.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatMediaPart, ChatMessage, ChatRequest, JsonValue } from '../../domain/chat/chat-request.js';
import { KNOWN_MEMBERS } from '../dto/create-chat-completion.dto.js';

export interface PromptSize {
  /** The bytes of every text that reaches the model, in the longer of its own and its normalised form. */
  readonly textBytes: number;
  /** The bytes of unknown members by name: a server that is allowed one may put it into its prompt. */
  readonly unknownBytes: ReadonlyMap<string, number>;
  readonly messages: number;
  readonly tools: number;
  readonly lowImages: number;
  readonly highImages: number;
  /** Sent in their original size. */
  readonly originalImages: number;
  /** At the lowest bit rate of their formats. */
  readonly audioSeconds: number;
  readonly audioParts: number;
  readonly files: number;
  readonly videos: number;
}

const EMPTY: PromptSize = {
  textBytes: 0,
  unknownBytes: new Map(),
  messages: 0,
  tools: 0,
  lowImages: 0,
  highImages: 0,
  originalImages: 0,
  audioSeconds: 0,
  audioParts: 0,
  files: 0,
  videos: 0,
};
const DEFAULT_OVERHEAD = { fixed: 256, perMessage: 16, perTool: 64 };
// Tokens: 10,000 patches of the model with the largest multiplier.
const ORIGINAL_IMAGE_TOKENS = 24_600;
// Bytes a second: 8 kbit/s for compressed formats, and 8 kHz for samples without a header.
const LOWEST_RATES: Readonly<Record<string, number>> = { pcm16: 16_000, pcm24: 24_000 };
const LOWEST_RATE = 1_000;
/** Members of a message that are counted by themselves, or are no text of the prompt. */
const COUNTED_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
]);
const KNOWN: ReadonlySet<string> = new Set(KNOWN_MEMBERS);

/** Reads the whole prompt, and yields by `pace`. */
export async function measurePrompt(request: ChatRequest, pace: Pace): Promise<PromptSize> {
  const { messages, tools, responseSchema, prediction, members } = request;
  const size = { ...EMPTY, messages: messages.length, tools: tools.length };
  for (const message of messages) {
    size.textBytes += messageBytes(message);
    if (typeof message.content !== 'string')
      for (const part of message.content ?? []) {
        if (part.type === 'text') size.textBytes += textBytes(part.text);
        else if (part.type === 'unknown') size.textBytes += jsonBytes(part.body);
        else addMedia(size, part);
      }
    if (pace.isDue) await pace.yieldNow();
  }
  for (const { body } of tools) size.textBytes += jsonBytes(body);
  if (responseSchema !== null) size.textBytes += jsonBytes(responseSchema);
  if (prediction !== null) size.textBytes += textBytes(prediction);
  const unknown = [...members].filter(([name]) => !KNOWN.has(name));
  return { ...size, unknownBytes: new Map(unknown.map(([name, bytes]) => [name, bytes.length])) };
}

/** The bytes of unknown members that the endpoint receives. */
export function allowedBytes({ unknownBytes }: PromptSize, { allowedMembers = [] }: ChatEndpoint): number {
  return allowedMembers.reduce((sum, name) => sum + (unknownBytes.get(name) ?? 0), 0);
}

/** The most tokens that the provider can charge for the prompt. */
export function promptBound(size: PromptSize, endpoint: ChatEndpoint): number {
  const { fixed, perMessage, perTool } = endpoint.promptOverhead ?? DEFAULT_OVERHEAD;
  const { maxTokensPerImage: image, contextLength } = endpoint;
  const text =
    size.textBytes + allowedBytes(size, endpoint) + fixed + perMessage * size.messages + perTool * size.tools;
  const media =
    tokensOf(size.lowImages, image?.low) +
    tokensOf(size.highImages, image?.high) +
    tokensOf(size.originalImages, image && Math.max(image.high, ORIGINAL_IMAGE_TOKENS)) +
    tokensOf(size.audioSeconds, endpoint.maxTokensPerAudioSecond) +
    tokensOf(size.files, endpoint.maxTokensPerFile) +
    tokensOf(size.videos, endpoint.maxTokensPerVideo);
  return Math.min(text + media, contextLength);
}

export function imagesOf({ lowImages, highImages, originalImages }: PromptSize): number {
  return lowImages + highImages + originalImages;
}

/** Without a rate a part has no bound but the context. */
function tokensOf(count: number, rate: number | undefined): number {
  return count === 0 ? 0 : count * (rate ?? Infinity);
}

function messageBytes({ content, name, toolCalls, toolCallId, body }: ChatMessage): number {
  let bytes = typeof content === 'string' ? textBytes(content) : 0;
  bytes += textBytes(name ?? '') + textBytes(toolCallId ?? '');
  for (const call of toolCalls)
    bytes += textBytes(call.id) + textBytes(call.name) + textBytes(call.arguments);
  // Reasoning, refusals and signatures of former answers.
  for (const member in body) {
    const value = body[member];
    if (!COUNTED_MEMBERS.has(member) && value !== undefined) bytes += jsonBytes(value);
  }
  return bytes;
}

function addMedia(
  size: { -readonly [Member in keyof PromptSize]: PromptSize[Member] },
  { type, detail, bytes }: ChatMediaPart,
): void {
  switch (type) {
    case 'image':
      if (detail === 'low') size.lowImages++;
      else if (detail === 'original') size.originalImages++;
      else size.highImages++;
      break;
    case 'audio':
      size.audioParts++;
      size.audioSeconds += Math.ceil(bytes / (LOWEST_RATES[detail ?? ''] ?? LOWEST_RATE));
      break;
    case 'file':
      size.files++;
      break;
    case 'video':
      size.videos++;
  }
}

function jsonBytes(value: JsonValue): number {
  return textBytes(JSON.stringify(value));
}

/** The texts of a prompt, for counting its tokens. */
export function* promptTexts(request: ChatRequest): Generator<string> {
  yield* messageTexts(request);
  yield* settingTexts(request);
}

export function* messageTexts({ messages }: Pick<ChatRequest, 'messages'>): Generator<string> {
  for (const { content, name, toolCalls } of messages) {
    if (name !== null) yield name;
    if (typeof content === 'string') yield content;
    else for (const part of content ?? []) if (part.type === 'text') yield part.text;
    for (const call of toolCalls) {
      yield call.name;
      yield call.arguments;
    }
  }
}

/** Providers write tools and schemas into the prompt in forms of their own. */
export function* settingTexts({
  tools,
  responseSchema,
  prediction,
}: Pick<ChatRequest, 'tools' | 'responseSchema' | 'prediction'>): Generator<string> {
  for (const { body } of tools) yield JSON.stringify(body);
  if (responseSchema !== null) yield JSON.stringify(responseSchema);
  if (prediction !== null) yield prediction;
}
