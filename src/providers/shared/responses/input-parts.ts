// Parts of the kernel as parts of the Responses wire.
import type { ChatMediaPart, ChatPart, JsonObject } from '../../../domain/chat/chat-request.js';
import { UnsupportedRequest } from '../provider.js';

/** `at`: the path of the part. */
export function inputPart(part: ChatPart, at: string): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return imagePart(part);
    case 'audio':
      return { type: 'input_audio', input_audio: part.body['input_audio'] ?? null };
    case 'file':
      return filePart(part);
    default:
      throw new UnsupportedRequest(at, `the endpoint takes no ${part.type}`);
  }
}

function imagePart({ body, detail }: ChatMediaPart): JsonObject {
  const { image_url: image } = body as { image_url?: { url?: unknown } };
  return { type: 'input_image', image_url: String(image?.url), detail: detail ?? 'auto' };
}

/** Data need a name, whose end says what they are. */
function filePart({ body, url, mediaType }: ChatMediaPart): JsonObject {
  const { file } = body as { file?: { file_data?: unknown; filename?: unknown } };
  if (url !== null) return { type: 'input_file', file_url: url };
  const name = mediaType === 'text/plain' ? 'file.txt' : 'file.pdf';
  const filename = typeof file?.filename === 'string' ? file.filename : name;
  return { type: 'input_file', filename, file_data: String(file?.file_data) };
}
