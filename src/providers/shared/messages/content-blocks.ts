// Parts of the kernel as blocks of the Messages wire.
import type { ChatMediaPart, ChatPart, JsonObject } from '../../../domain/chat/chat-request.js';
import { readDataUrl } from '../../../domain/data-url.js';
import { UnsupportedRequest } from '../provider.js';

/** `at`: the path of the part. Null: an empty text, which the wire refuses. */
export function blockOf(part: ChatPart, at: string): JsonObject | null {
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', source: imageSource(part) };
    case 'file':
      return documentOf(part);
    case 'unknown':
      return { ...part.body };
    default:
      throw new UnsupportedRequest(at, `the endpoint takes no ${part.type}`);
  }
}

function imageSource({ url, body }: ChatMediaPart): JsonObject {
  if (url !== null) return { type: 'url', url };
  const { image_url: image } = body as { image_url?: { url?: unknown } };
  return dataSource(String(image?.url));
}

function documentOf({ url, body, mediaType }: ChatMediaPart): JsonObject {
  const { file } = body as { file?: { file_data?: unknown; filename?: unknown } };
  const title = typeof file?.filename === 'string' ? { title: file.filename } : {};
  if (url !== null) return { type: 'document', source: { type: 'url', url }, ...title };
  const source = dataSource(String(file?.file_data));
  if (mediaType !== 'text/plain') return { type: 'document', source, ...title };
  const data = Buffer.from(source.data, 'base64').toString();
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title };
}

function dataSource(url: string): JsonObject & { readonly data: string } {
  const data = readDataUrl(url);
  return {
    type: 'base64',
    media_type: data?.mediaType ?? 'application/octet-stream',
    data: url.slice(data?.from ?? 0),
  };
}
