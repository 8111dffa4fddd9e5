// Blocks of the Messages wire as parts of the kernel.
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isObject } from '../../../domain/members.js';
import { readPart } from '../../dto/chat-parts.js';
import { textIn } from '../kernel-messages.js';
import type { ReadPart } from '../kernel-messages.js';

export type Block = JsonObject;

/** A text is one block. */
export function blocksOf(content: unknown, at: string): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!isArray(content))
    return rejectMember(at, content === undefined ? 'is required' : 'must be a string or a list of blocks');
  return content.map((block, index) => {
    if (!isObject(block)) return rejectMember(`${at}[${index}]`, 'must be an object');
    if (typeof block['type'] !== 'string') return rejectMember(`${at}[${index}].type`, 'must be a string');
    return block as Block;
  });
}

/** The mark of a block or a tool, as a member. */
export function cacheMark({ cache_control: mark }: Block): JsonObject {
  return isObject(mark) ? { cache_control: mark } : {};
}

/** A block that is no call, no result and no thought. */
export function readBlock(block: Block, at: string): ReadPart {
  const mark = cacheMark(block);
  switch (block['type']) {
    case 'text': {
      const text = textIn(block, 'text', at);
      return { part: { type: 'text', text }, body: { type: 'text', text, ...mark } };
    }
    case 'image':
      return readMedia({ type: 'image_url', image_url: { url: addressOf(block, at) }, ...mark }, at);
    case 'document': {
      const url = documentAddress(block, at);
      if (url === null) break;
      const name = typeof block['title'] === 'string' ? { filename: block['title'] } : {};
      return readMedia({ type: 'file', file: { file_data: url, ...name }, ...mark }, at);
    }
  }
  const name = textIn(block, 'type', at);
  const part = { type: 'unknown', wire: 'messages', name, body: block } as const;
  return { part, body: { type: 'text', text: `[${name.slice(0, 100)}]` } };
}

function readMedia(body: JsonObject, at: string): ReadPart {
  return { part: readPart(body, 'user', at), body };
}

function sourceOf(block: Block, at: string): JsonObject {
  const { source } = block;
  return isObject(source) ? source : rejectMember(`${at}.source`, 'must be an object');
}

/** Of an image. */
function addressOf(block: Block, at: string): string {
  const source = sourceOf(block, at);
  switch (source['type']) {
    case 'base64':
      return `data:${textIn(source, 'media_type', `${at}.source`)};base64,${textIn(source, 'data', `${at}.source`)}`;
    case 'url':
      return textIn(source, 'url', `${at}.source`);
    case 'file':
      return rejectMember(
        `${at}.source.file_id`,
        'is not supported: files belong to the account at the provider; send the data',
      );
    default:
      return rejectMember(`${at}.source.type`, 'must be base64 or url');
  }
}

/** Null: blocks as a document, which only this wire knows. */
function documentAddress(block: Block, at: string): string | null {
  const source = sourceOf(block, at);
  if (source['type'] === 'content') return null;
  if (source['type'] !== 'text') return addressOf(block, at);
  const data = Buffer.from(textIn(source, 'data', `${at}.source`)).toString('base64');
  return `data:text/plain;base64,${data}`;
}
