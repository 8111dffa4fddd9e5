// Turns the bytes of a body into its JSON value. Bodies must be in UTF-8.

// Its first character may be a byte order mark, which is no part of the text.
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/gi;

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

/** RFC 8259: JSON between systems is in UTF-8. `utf8` is not registered, and common in headers written by hand. */
export function isInUtf8(contentType: string): boolean {
  return [...contentType.matchAll(CHARSET)].every(([, charset]) => /^utf-?8$/i.test(charset ?? ''));
}

/** An empty body stands for an empty object. Throws UnreadableBody. */
export function parseBody(bytes: Buffer): unknown {
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
    // Read all the same, it would be another text, and so get another vector.
    throw new UnreadableBody('charset.unsupported');
  }
}
