// Reads one part of a message. The price of an unknown part has no bound, so that it is rejected.
import type { ChatMediaPart, ChatMessage, ChatPart, JsonObject } from '../../domain/chat/chat-request.js';
import { readDataUrl } from '../../domain/data-url.js';
import { rejectMember } from '../../domain/errors.js';
import { isGiven, isObject } from '../../domain/members.js';

type Members = Readonly<Record<string, unknown>>;

const DETAILS: readonly unknown[] = ['auto', 'low', 'high', 'original'];
const AUDIO_FORMATS = ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'aiff', 'aac', 'pcm16', 'pcm24'];

/** Throws `invalid_request` at `path`. */
export function readPart(part: unknown, role: ChatMessage['role'], path: string): ChatPart {
  if (!isObject(part)) return rejectMember(path, 'must be an object');
  // Earlier answers come back with the text of their refusals.
  if (role === 'assistant' && part['type'] === 'refusal')
    return { type: 'text', text: requireText(part['refusal'], `${path}.refusal`) };
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: requireText(part['text'], `${path}.text`) };
    case 'image_url':
      return readImage(part, `${path}.image_url`);
    case 'input_audio':
      return readAudio(part, `${path}.input_audio`);
    case 'file':
      return readFile(part, `${path}.file`);
    case 'video_url':
      return readAddress(part, 'video', part['video_url'], `${path}.video_url`);
    case 'input_video':
      return readAddress(part, 'video', part['input_video'], `${path}.input_video`);
    default:
      return rejectMember(
        `${path}.type`,
        'must be text, image_url, input_audio, file, video_url or input_video',
      );
  }
}

function readImage(part: Members, path: string): ChatMediaPart {
  const { image_url: image } = part;
  const read = readAddress(part, 'image', image, path);
  if (read.mediaType !== null && !read.mediaType.startsWith('image/'))
    rejectMember(`${path}.url`, 'must be the data of an image');
  const detail = (image as Members)['detail'] ?? null;
  if (detail !== null && !DETAILS.includes(detail))
    rejectMember(`${path}.detail`, `must be ${DETAILS.join(', ')}`);
  return { ...read, detail: detail as string | null };
}

function readAudio(part: Members, path: string): ChatMediaPart {
  const { input_audio: audio } = part;
  if (!isObject(audio)) return rejectMember(path, 'must be an object');
  const data = requireText(audio['data'], `${path}.data`);
  const { format } = audio;
  if (typeof format !== 'string' || !AUDIO_FORMATS.includes(format))
    return rejectMember(`${path}.format`, `must be one of ${AUDIO_FORMATS.join(', ')}`);
  const body = part as JsonObject;
  return {
    type: 'audio',
    body,
    url: null,
    bytes: base64Bytes(data.length),
    mediaType: `audio/${format}`,
    detail: format,
  };
}

function readFile(part: Members, path: string): ChatMediaPart {
  const { file } = part;
  if (!isObject(file)) return rejectMember(path, 'must be an object');
  if (isGiven(file['file_id']))
    rejectMember(
      `${path}.file_id`,
      'is not supported: files belong to the account at the provider; use file_data',
    );
  return readAddress(part, 'file', { url: file['file_data'] }, path, 'file_data');
}

function readAddress(
  part: Members,
  type: ChatMediaPart['type'],
  owner: unknown,
  path: string,
  name = 'url',
): ChatMediaPart {
  if (!isObject(owner)) return rejectMember(path, 'must be an object');
  const url = requireText(owner['url'], `${path}.${name}`);
  const body = part as JsonObject;
  if (/^https:\/\//i.test(url)) {
    if (!URL.canParse(url)) rejectMember(`${path}.${name}`, 'must be a URL');
    return { type, body, url, bytes: 0, mediaType: null, detail: null };
  }
  const data = readDataUrl(url);
  if (!data) return rejectMember(`${path}.${name}`, 'must be an https: URL, or a data: URL in base64');
  const bytes = base64Bytes(url.length - data.from);
  return { type, body, url: null, bytes, mediaType: data.mediaType, detail: null };
}

/** An upper bound: padding is not subtracted. */
function base64Bytes(characters: number): number {
  return Math.ceil((characters * 3) / 4);
}

function requireText(value: unknown, path: string): string {
  return typeof value === 'string' ? value : rejectMember(path, 'must be a string');
}
