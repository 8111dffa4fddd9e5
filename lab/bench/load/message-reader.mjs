// Reads HTTP/1.1 messages from one connection with little more work than counting: the load and the upstream share
// their cores with the measured processes, and a full client or server would cost more.
const HEAD_END = Buffer.from('\r\n\r\n');

/** `onMessage(head, length, body)`; the body is null unless `keepsBody` was true when the message began. */
export class MessageReader {
  keepsBody = false;
  #onMessage;
  /** The part of the message that the next bytes belong to. */
  #part = 'head';
  /** The incomplete head or line so far. */
  #text = '';
  #head = '';
  #length = 0;
  #remaining = 0;
  #parts = null;

  constructor(onMessage) {
    this.#onMessage = onMessage;
  }

  feed(bytes) {
    let offset = 0;
    while (offset < bytes.length) offset = this.#read(bytes, offset);
  }

  /** Reads on in the present part, and returns the position of its end. */
  #read(bytes, offset) {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes, offset);
      case 'body':
        return this.#readBody(bytes, offset);
      case 'size':
        return this.#readSize(bytes, offset);
      case 'chunk':
        return this.#readChunk(bytes, offset);
      case 'chunk end':
        return this.#readChunkEnd(bytes, offset);
      default:
        return this.#readTrailer(bytes, offset);
    }
  }

  #readHead(bytes, offset) {
    const end = this.#text === '' ? bytes.indexOf(HEAD_END, offset) : -1;
    if (end >= 0) {
      this.#begin(bytes.latin1Slice(offset, end));
      return end + HEAD_END.length;
    }
    const before = this.#text.length;
    this.#text += bytes.latin1Slice(offset, bytes.length);
    const length = this.#text.indexOf('\r\n\r\n');
    if (length < 0) return bytes.length;
    this.#begin(this.#text.slice(0, length));
    return offset + length + HEAD_END.length - before;
  }

  #begin(head) {
    this.#text = '';
    this.#head = head;
    this.#length = 0;
    this.#parts = this.keepsBody ? [] : null;
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    this.#remaining = Number(length ?? 0);
    if (length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)) this.#part = 'size';
    else if (this.#remaining > 0) this.#part = 'body';
    else this.#finish();
  }

  #readBody(bytes, offset) {
    const end = this.#take(bytes, offset);
    if (this.#remaining === 0) this.#finish();
    return end;
  }

  #readSize(bytes, offset) {
    const [line, end] = this.#takeLine(bytes, offset);
    if (line === null) return end;
    this.#remaining = Number.parseInt(line, 16);
    if (Number.isNaN(this.#remaining)) throw new Error('a chunk has no size');
    this.#part = this.#remaining === 0 ? 'trailer' : 'chunk';
    return end;
  }

  #readChunk(bytes, offset) {
    const end = this.#take(bytes, offset);
    if (this.#remaining === 0) this.#part = 'chunk end';
    return end;
  }

  #readChunkEnd(bytes, offset) {
    const [line, end] = this.#takeLine(bytes, offset);
    if (line !== null) this.#part = 'size';
    return end;
  }

  #readTrailer(bytes, offset) {
    const [line, end] = this.#takeLine(bytes, offset);
    if (line === '') this.#finish();
    return end;
  }

  #take(bytes, offset) {
    const end = Math.min(offset + this.#remaining, bytes.length);
    this.#length += end - offset;
    this.#remaining -= end - offset;
    // Copied: the caller may read the next bytes into the same buffer.
    this.#parts?.push(Buffer.from(bytes.subarray(offset, end)));
    return end;
  }

  /** The line, or null while it is incomplete, and the next position. */
  #takeLine(bytes, offset) {
    const newline = bytes.indexOf(10, offset);
    this.#text += bytes.latin1Slice(offset, newline < 0 ? bytes.length : newline);
    if (newline < 0) return [null, bytes.length];
    const line = this.#text.trimEnd();
    this.#text = '';
    return [line, newline + 1];
  }

  #finish() {
    const body = this.#parts === null ? null : Buffer.concat(this.#parts);
    this.#parts = null;
    this.#part = 'head';
    this.#onMessage(this.#head, this.#length, body);
  }
}
