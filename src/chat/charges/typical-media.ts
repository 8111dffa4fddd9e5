// The tokens that media of a prompt typically have, for counts that are charged. Bounds only reserve: a small image without
// one would be charged like a whole context (docs/contract.md#chat-usage).
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatMediaPart, ChatRequest } from '../../domain/chat/chat-request.js';

// An image of 1,024 pixels square in patches of 32.
const IMAGE_TOKENS = { low: 85, high: 1_024 };
// Google's guide to tokens: 32 a second of audio, and 258 for a frame of each second of video.
const AUDIO_TOKENS_A_SECOND = 32;
const VIDEO_TOKENS_A_SECOND = 290;
const VIDEO_BYTES_A_SECOND = 250_000;
// A page has its text, and often its image as well.
const PAGE_TOKENS = 1_000;
const PAGE_BYTES = 50_000;
const TEXT_BYTES_A_TOKEN = 4;
// Media behind addresses: their sizes are unknown here.
const REMOTE_VIDEO_SECONDS = 60;
const REMOTE_FILE_PAGES = 10;
// Bytes a second: 128 kbit/s for lossy formats, half of the samples for lossless ones, samples of 24 kHz.
const LOSSY_RATE = 16_000;
const AUDIO_RATES: Readonly<Record<string, number>> = {
  wav: 48_000,
  aiff: 48_000,
  pcm16: 48_000,
  pcm24: 72_000,
  flac: 24_000,
};

/** Each part counts at most the endpoint's bound. */
export function typicalMediaTokens(
  { messages }: Pick<ChatRequest, 'messages'>,
  endpoint: ChatEndpoint,
): number {
  let tokens = 0;
  for (const { content } of messages)
    if (typeof content !== 'string')
      for (const part of content ?? [])
        if (part.type !== 'text' && part.type !== 'unknown') tokens += tokensOf(part, endpoint);
  return tokens;
}

function tokensOf(part: ChatMediaPart, endpoint: ChatEndpoint): number {
  const { bytes } = part;
  switch (part.type) {
    case 'image': {
      const detail = part.detail === 'low' ? 'low' : 'high';
      const { tokensPerImage = IMAGE_TOKENS, maxTokensPerImage } = endpoint;
      return Math.min(tokensPerImage[detail], maxTokensPerImage?.[detail] ?? Infinity);
    }
    case 'audio': {
      const seconds = Math.ceil(bytes / (AUDIO_RATES[part.detail ?? ''] ?? LOSSY_RATE));
      return seconds * Math.min(AUDIO_TOKENS_A_SECOND, endpoint.maxTokensPerAudioSecond ?? Infinity);
    }
    case 'file':
      return Math.min(fileTokens(part), endpoint.maxTokensPerFile ?? Infinity);
    case 'video': {
      const seconds = part.url === null ? Math.ceil(bytes / VIDEO_BYTES_A_SECOND) : REMOTE_VIDEO_SECONDS;
      return Math.min(seconds * VIDEO_TOKENS_A_SECOND, endpoint.maxTokensPerVideo ?? Infinity);
    }
  }
}

function fileTokens({ bytes, url, mediaType }: ChatMediaPart): number {
  if (url !== null) return REMOTE_FILE_PAGES * PAGE_TOKENS;
  if (mediaType?.startsWith('text/')) return Math.ceil(bytes / TEXT_BYTES_A_TOKEN);
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_TOKENS;
}
