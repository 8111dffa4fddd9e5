// Parts of the kernel as blocks of Bedrock's Converse wire (docs/contract.md#converse-providers).
import type { ChatMediaPart, ChatPart, JsonObject } from '../../../domain/chat/chat-request.js';
import { readDataUrl } from '../../../domain/data-url.js';
import { UnsupportedRequest } from '../provider.js';

/** The names of media in Chat's parts, and the words of the wire for their formats. */
const FORMATS: Readonly<Record<ChatMediaPart['type'], Readonly<Record<string, string>>>> = {
  image: { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/gif': 'gif', 'image/webp': 'webp' },
  file: { 'application/pdf': 'pdf', 'text/plain': 'txt' },
  audio: { mp3: 'mp3', wav: 'wav', flac: 'flac', ogg: 'ogg', m4a: 'm4a', aac: 'aac', opus: 'opus' },
  video: {
    'video/mp4': 'mp4',
    'video/webm': 'webm',
    'video/quicktime': 'mov',
    'video/mpeg': 'mpeg',
    'video/x-matroska': 'mkv',
    'video/x-flv': 'flv',
    'video/x-ms-wmv': 'wmv',
    'video/3gpp': 'three_gp',
  },
};
const MAX_NAME = 200;

/** Parts as Chat has them. */
interface MediaBody {
  readonly image_url?: { readonly url: string };
  readonly file?: { readonly file_data: string };
  readonly input_audio?: { readonly data: string };
  readonly video_url?: { readonly url: string };
}

/** The wire wants a name of its own for every document, of few characters. */
export class ConverseParts {
  private readonly names = new Set<string>();

  block(part: ChatPart, at: string, place: 'turn' | 'result'): JsonObject | null {
    if (part.type === 'text') {
      const isRefused = place === 'turn' && part.text.trim() === '';
      return isRefused ? null : { text: part.text };
    }
    if (part.type === 'unknown') throw new UnsupportedRequest(at, `the endpoint takes no ${part.name}`);
    const { format, bytes } = dataOf(part, at);
    if (part.type !== 'file') return { [part.type]: { format, source: { bytes } } };
    const { file } = part.body as { file?: { filename?: unknown } };
    return { document: { format, name: this.nameFor(file?.filename), source: { bytes } } };
  }

  private nameFor(filename: unknown): string {
    const plain = (typeof filename === 'string' ? filename : '')
      .replaceAll(/[^a-zA-Z0-9\s()[\]-]+/g, '-')
      .replaceAll(/\s+/g, ' ')
      .trim();
    const base = plain === '' ? 'document' : plain.slice(0, MAX_NAME - 5);
    let name = base;
    for (let next = 2; this.names.has(name); next++) name = `${base} ${next}`;
    this.names.add(name);
    return name;
  }
}

function dataOf(
  { type, body, mediaType, detail }: ChatMediaPart,
  at: string,
): { readonly format: string; readonly bytes: string } {
  const known = FORMATS[type];
  const format = known[(type === 'audio' ? detail : mediaType) ?? ''];
  if (format === undefined)
    throw new UnsupportedRequest(at, `must be one of ${Object.keys(known).join(', ')}`);
  const { image_url: image, file, input_audio: audio, video_url: video } = body as MediaBody;
  const text = image?.url ?? file?.file_data ?? audio?.data ?? video?.url ?? '';
  return { format, bytes: text.slice(readDataUrl(text)?.from ?? 0) };
}
