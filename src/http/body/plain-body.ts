// Reads the usual body: uncompressed, in UTF-8, of an announced length, and received with its headers. body-reader.ts
// reads the others.
import type { IncomingMessage } from 'node:http';
import { compressionOf } from '../load-shedding/load-shedding.guard.js';

// Its first character may be a byte order mark, which is no part of the text.
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const JSON_IN_UTF8 = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset=(?:utf-?8|"utf-?8")\s*)?$/i;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;,"]*)/gi;

/** A body that cannot be read. */
export class UnreadableBody extends Error {
  constructor(
    readonly type:
      | 'charset.unsupported'
      | 'encoding.unsupported'
      | 'entity.parse.failed'
      | 'entity.too.large'
      | 'request.aborted',
    message?: string,
  ) {
    super(message);
  }
}

/** Whether takeArrivedBody() can read it. */
export function isPlainBody(request: Pick<IncomingMessage, 'headers'>, limit: number): boolean {
  const { headers } = request;
  return (
    compressionOf(request) === null &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length']) <= limit &&
    JSON_IN_UTF8.test(headers['content-type'] ?? '')
  );
}

/** RFC 8259: JSON between systems is in UTF-8. `utf8` is not registered, and common in headers written by hand. */
export function isInUtf8(contentType: string): boolean {
  if (JSON_IN_UTF8.test(contentType)) return true;
  return [...contentType.matchAll(CHARSET)].every(([, charset]) => /^utf-?8$/i.test(charset ?? ''));
}

/** The whole body, where it has arrived, as most do with their headers; else null. */
export function takeArrivedBody(request: IncomingMessage): Buffer | null {
  const isThere =
    request.complete &&
    !request.destroyed &&
    request.readableLength === Number(request.headers['content-length']);
  if (!isThere) return null;
  return (request.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** Parses the JSON of the body; an empty body is an empty object. Throws UnreadableBody. */
export function parsePlainBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableBody('entity.parse.failed', (error as Error).message);
  }
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Replacement characters would make it another text, which has another vector.
    throw new UnreadableBody('charset.unsupported');
  }
}
