// Compressed answers of providers, unpacked within the bound of the answer. This service requests no compression;
// proxies and servers apply it all the same.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { OutboundFailure } from './exchange.js';
import type { OutboundResponse } from './exchange.js';
import type { OutboundStream, StreamListener } from './streamed-exchange.js';

type Unpack = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

// Each encoding may itself be applied to a compressed body, of which two are enough.
const MAX_ENCODINGS = 2;

const gunzip: Unpack = promisify(zlib.gunzip);
const inflate: Unpack = promisify(zlib.inflate);
const inflateRaw: Unpack = promisify(zlib.inflateRaw);

// A map: a server may name any encoding, such as `constructor`.
const UNPACKERS = new Map<string, Unpack | undefined>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  // RFC 9110: in a zlib wrapper. Some servers send it without one.
  ['deflate', (body, options) => (isZlib(body) ? inflate : inflateRaw)(body, options)],
  ['br', promisify(zlib.brotliDecompress)],
  ['zstd', zstdOfNode()],
]);

/** Beyond the bound of its exchange once it is unpacked. */
export class OversizedWhenUnpacked extends BrokenAnswer {}

/** A stream ends where its bytes end: its reader knows whether the answer is complete. */
const STREAM_OPTIONS = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const STREAM_UNPACKERS = new Map<string, (first: Buffer) => Transform>([
  ['gzip', () => zlib.createGunzip(STREAM_OPTIONS)],
  ['x-gzip', () => zlib.createGunzip(STREAM_OPTIONS)],
  ['deflate', (first) => (isZlib(first) ? zlib.createInflate : zlib.createInflateRaw)(STREAM_OPTIONS)],
  ['br', () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })],
]);

/** Null: the stream is not compressed. Throws BrokenAnswer. */
function streamUnpacker(stream: OutboundStream): ((first: Buffer) => Transform) | null {
  const [encoding, ...others] = encodingsOf(stream);
  if (encoding === undefined) return null;
  const unpacker = STREAM_UNPACKERS.get(encoding);
  if (unpacker === undefined || others.length > 0)
    throw new BrokenAnswer('the stream has a content-encoding that cannot be decompressed');
  return unpacker;
}

/** Throws BrokenAnswer for a body that cannot be unpacked, or not within `maxBytes`. */
export async function decompress(response: OutboundResponse, maxBytes: number): Promise<OutboundResponse> {
  const encodings = encodingsOf(response);
  if (encodings.length === 0 || response.body.length === 0) return response;
  if (encodings.length > MAX_ENCODINGS) throw new BrokenAnswer('the answer is compressed too often');
  let { body } = response;
  for (const encoding of encodings.toReversed()) body = await unpack(body, encoding, maxBytes);
  return { ...response, body };
}

async function unpack(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const unpacker = UNPACKERS.get(encoding);
  if (!unpacker) throw new BrokenAnswer('the answer has an unknown content-encoding');
  try {
    return await unpacker(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    if (!isTooLarge) throw new BrokenAnswer(`the answer is not valid ${encoding}`, { cause: error });
    const message = `the answer is larger than ${maxBytes} bytes once it is decompressed`;
    throw new OversizedWhenUnpacked(message, { cause: error });
  }
}

function encodingsOf({ headers }: Pick<OutboundResponse, 'headers'>): readonly string[] {
  const header = headers['content-encoding'];
  if (header === undefined) return [];
  return String(header)
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
}

/** The low bits of the first byte name the method, the first two bytes are a multiple of 31. */
function isZlib(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}

/** Node has it from 22.15 on. */
function zstdOfNode(): Unpack | undefined {
  const { zstdDecompress } = zlib as { readonly zstdDecompress?: typeof zlib.gunzip };
  return zstdDecompress && promisify(zstdDecompress);
}

/**
 * The bytes inside a compressed stream, as they come. Their reader bounds them. Throws BrokenAnswer for a stream that
 * cannot be decompressed, and aborts it.
 */
export function decompressStream(stream: OutboundStream): OutboundStream {
  try {
    const create = streamUnpacker(stream);
    return create === null ? stream : new UnpackedStream(stream, create);
  } catch (error) {
    stream.abort();
    throw error;
  }
}

class UnpackedStream implements OutboundStream {
  readonly status: number;
  readonly headers: OutboundStream['headers'];
  /** Null before the first bytes. */
  private unpacker: Transform | null = null;
  private isPaused = false;
  private isAborted = false;

  constructor(
    private readonly packed: OutboundStream,
    private readonly create: (first: Buffer) => Transform,
  ) {
    this.status = packed.status;
    this.headers = packed.headers;
  }

  listen(listener: StreamListener): void {
    this.packed.listen({
      onChunk: (bytes) => {
        this.unpacker ??= this.start(bytes, listener);
        // The parser reuses its memory. The unpacker works in another thread.
        if (!this.unpacker.write(Buffer.from(bytes))) this.packed.pause();
      },
      onEnd: () => {
        if (this.unpacker === null) listener.onEnd();
        else this.unpacker.end();
      },
      onError: (error) => listener.onError(error),
    });
  }

  pause(): void {
    this.isPaused = true;
    this.unpacker?.pause();
    this.packed.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.unpacker?.resume();
    this.packed.resume();
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.packed.abort();
    this.unpacker?.destroy();
  }

  private start(first: Buffer, listener: StreamListener): Transform {
    const unpacker = this.create(first);
    unpacker.on('data', (bytes: Buffer) => {
      if (!this.isAborted) listener.onChunk(bytes);
    });
    unpacker.on('drain', () => {
      if (!this.isPaused && !this.isAborted) this.packed.resume();
    });
    unpacker.on('end', () => {
      if (!this.isAborted) listener.onEnd();
    });
    unpacker.on('error', (cause) => {
      if (this.isAborted) return;
      this.abort();
      listener.onError(new OutboundFailure('the stream is not validly compressed', { cause }));
    });
    return unpacker;
  }
}
