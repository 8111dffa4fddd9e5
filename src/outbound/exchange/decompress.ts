// Compressed answers of providers, unpacked within the bound of the answer. This service requests no compression;
// proxies and servers apply it all the same.
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { OutboundResponse } from './exchange.js';

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

function encodingsOf({ headers }: OutboundResponse): readonly string[] {
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
