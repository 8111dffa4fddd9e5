// Parts of the kernel as parts of Gemini's wire.
import type { ChatMediaPart, ChatPart, JsonObject } from '../../../domain/chat/chat-request.js';
import { readDataUrl } from '../../../domain/data-url.js';
import { isObject } from '../../../domain/members.js';
import { asObject } from '../wire.js';
import { UnsupportedRequest } from '../provider.js';

const ERROR = /^Error: /;

/** `at`: the path of the part. Null: an empty text, which the wire refuses. */
export function geminiPart(part: ChatPart, at: string): JsonObject | null {
  if (part.type === 'text') return part.text === '' ? null : { text: part.text };
  if (part.type === 'unknown') throw new UnsupportedRequest(at, `the endpoint takes no ${part.name}`);
  if (part.url !== null) return { fileData: { fileUri: part.url } };
  return { inlineData: inlineDataOf(part) };
}

function inlineDataOf({ type, body, mediaType }: ChatMediaPart): JsonObject {
  if (type === 'audio') {
    const { data } = asObject(body['input_audio']);
    return { mimeType: mediaType, data: String(data) };
  }
  const url = addressOf(body);
  const { from = 0 } = readDataUrl(url) ?? {};
  return { mimeType: mediaType ?? 'application/octet-stream', data: url.slice(from) };
}

function addressOf(body: JsonObject): string {
  const { image_url: image, video_url: video, input_video: input, file } = body;
  const { url, file_data: data } = asObject([image, video, input, file].find(isObject));
  return [url, data].find((address) => typeof address === 'string') ?? '';
}

/** The result of a function is an object: an object in JSON, else one around the text. */
export function functionResponse(
  call: { readonly id: string; readonly name: string },
  text: string,
  isError: boolean,
): string {
  const start = JSON.stringify(call).slice(0, -1);
  return `{"functionResponse":${start},"response":${responseOf(text, isError)}}}`;
}

function responseOf(text: string, isError: boolean): string {
  if (isError || ERROR.test(text)) return JSON.stringify({ error: text.replace(ERROR, '') });
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch {
    // Below.
  }
  return JSON.stringify({ output: text });
}
