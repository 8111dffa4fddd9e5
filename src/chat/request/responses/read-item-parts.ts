// Parts of items in the Responses wire as parts of the kernel.
import type { ChatMessage, JsonObject } from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../../domain/members.js';
import { readPart } from '../../dto/chat-parts.js';
import { textIn } from '../kernel-messages.js';
import type { ReadPart } from '../kernel-messages.js';

const NO_FILES = 'is not supported: files belong to the account at the provider; send the data';
const PARTS = 'must be input_text, input_image, input_file, input_audio, output_text or refusal';

/** A text is one part. `content`: of a message, or the output of a call. */
export function readItemParts(content: unknown, role: ChatMessage['role'], at: string): ReadPart[] {
  if (typeof content === 'string') return [textPart(content)];
  if (!isArray(content))
    return rejectMember(at, content === undefined ? 'is required' : 'must be a string or a list of parts');
  return content.map((part, index) => {
    const path = `${at}[${index}]`;
    return isObject(part)
      ? readItemPart(part as JsonObject, role, path)
      : rejectMember(path, 'must be an object');
  });
}

export function textPart(text: string): ReadPart {
  return { part: { type: 'text', text }, body: { type: 'text', text } };
}

function readItemPart(part: JsonObject, role: ChatMessage['role'], at: string): ReadPart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    // Some clients keep the names of Chat.
    case 'text':
      return textPart(textIn(part, 'text', at));
    case 'refusal': {
      const refusal = textIn(part, 'refusal', at);
      return role === 'assistant' ? read({ type: 'refusal', refusal }, role, at) : textPart(refusal);
    }
    case 'input_image':
      return readImage(part, role, at);
    case 'input_file':
      return readFile(part, role, at);
    case 'input_audio':
      return read({ type: 'input_audio', input_audio: part['input_audio'] ?? null }, role, at);
    default:
      return rejectMember(`${at}.type`, PARTS);
  }
}

function readImage(part: JsonObject, role: ChatMessage['role'], at: string): ReadPart {
  if (isGiven(part['file_id'])) rejectMember(`${at}.file_id`, NO_FILES);
  const { detail } = part;
  const url = textIn(part, 'image_url', at);
  return read({ type: 'image_url', image_url: { url, ...(isGiven(detail) && { detail }) } }, role, at);
}

function readFile(part: JsonObject, role: ChatMessage['role'], at: string): ReadPart {
  if (isGiven(part['file_id'])) rejectMember(`${at}.file_id`, NO_FILES);
  const { filename } = part;
  const data = textIn(part, isGiven(part['file_url']) ? 'file_url' : 'file_data', at);
  const name = typeof filename === 'string' ? { filename } : {};
  return read({ type: 'file', file: { file_data: data, ...name } }, role, at);
}

function read(body: JsonObject, role: ChatMessage['role'], at: string): ReadPart {
  return { part: readPart(body, role, at), body };
}
