// Reads a body as nearly all of them come: uncompressed, in UTF-8, of an announced length. What is left out beside
// Express's reader, which reads the others, is what only they need: that is half of what reading took.
import type { IncomingMessage } from 'node:http';
import { compressionOf } from './admission.guard.js';

// Its first character may be a byte order mark, which is no part of the text.
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const JSON_IN_UTF8 = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset=(?:utf-?8|"utf-?8")\s*)?$/i;

/** A body that cannot be read. `type` is what Express's reader calls the same. */
export class UnreadableBody extends Error {
  constructor(
    readonly type: 'charset.unsupported' | 'entity.parse.failed' | 'request.aborted',
    message?: string,
  ) {
    super(message);
  }
}

/** Whether readPlainBody() may read it: Express's reader says what is wrong with one that is announced as too large. */
export function isPlainBody(request: Pick<IncomingMessage, 'headers'>, limit: number): boolean {
  const { headers } = request;
  return (
    compressionOf(request) === null &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length']) <= limit &&
    JSON_IN_UTF8.test(headers['content-type'] ?? '')
  );
}

/** All of the body, where it has come already, as most have with their headers; else null. */
export function takeArrivedBody(request: IncomingMessage): Buffer | null {
  const isThere =
    request.complete &&
    !request.destroyed &&
    request.readableLength === Number(request.headers['content-length']);
  if (!isThere) return null;
  return (request.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** The value that the body is the JSON of; of an empty body an empty object. Throws UnreadableBody. */
export function parsePlainBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableBody('entity.parse.failed', (error as Error).message);
  }
}

/**
 * The body as it comes; rejects with UnreadableBody where it ends early. No more than was announced: Node's parser takes
 * what follows for the next request.
 */
export function gatherPlainBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const giveUp = (): void => reject(new UnreadableBody('request.aborted'));
    if (request.destroyed) {
      giveUp();
      return;
    }
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    request.once('close', () => {
      // An error is not made in vain: its stack takes longer than the whole reading.
      if (!request.readableEnded) giveUp();
    });
  });
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Read all the same, it would be another text, and so get another vector.
    throw new UnreadableBody('charset.unsupported');
  }
}
