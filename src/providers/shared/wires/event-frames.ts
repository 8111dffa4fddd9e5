// Events in frames of AWS (docs/contract.md#converse-providers): lengths and checksums around headers and a payload, all numbers
// big-endian.
import { crc32 } from 'node:zlib';
import { BrokenAnswer } from '../provider.js';

/** Lengths and checksum at the beginning. */
export const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const TEXT = 7;
/** The statuses of exceptions outside of a stream. */
const STATUSES: Readonly<Record<string, number>> = {
  InternalServerException: 500,
  ModelStreamErrorException: 500,
  ModelTimeoutException: 408,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  ValidationException: 400,
};
/** Bytes of the values of a header by its type; null: a length of two bytes comes before. */
const SIZES: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];

export interface EventFrame {
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

/** The bytes of the whole frame, from a prelude whose checksum is right. Throws BrokenAnswer. */
export function frameLength(prelude: Buffer): number {
  const length = prelude.readUInt32BE(0);
  const headers = prelude.readUInt32BE(4);
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
    throw new BrokenAnswer('a frame of the stream has a wrong checksum');
  if (length < PRELUDE_BYTES + CHECKSUM_BYTES + headers)
    throw new BrokenAnswer('a frame of the stream is shorter than its headers');
  return length;
}

/** Throws BrokenAnswer. */
export function readFrame(frame: Buffer): EventFrame {
  const end = frame.length - CHECKSUM_BYTES;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
    throw new BrokenAnswer('a frame of the stream has a wrong checksum');
  const payloadFrom = PRELUDE_BYTES + frame.readUInt32BE(4);
  return {
    headers: readHeaders(frame.subarray(PRELUDE_BYTES, payloadFrom)),
    payload: frame.subarray(payloadFrom, end),
  };
}

/** The texts among the headers. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new BrokenAnswer('a frame of the stream ends inside of a header');
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString();
    const type = take(1).readUInt8();
    const size = SIZES[type];
    if (size === undefined) throw new BrokenAnswer('a frame of the stream has a header of an unknown type');
    const value = take(size ?? take(2).readUInt16BE());
    if (type === TEXT) headers.set(name, value.toString());
  }
  return headers;
}

/** `{"<type>": <payload>}`. */
export function wrappedFrame(type: string, payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`{${JSON.stringify(type)}:`),
    payload.length === 0 ? Buffer.from('{}') : payload,
    Buffer.from('}'),
  ]);
}

/** An exception or an error as the body of one: its kind is in the headers. Null: the frame is an event. */
export function failureIn({ headers, payload }: EventFrame): Buffer | null {
  const kind = headers.get(':message-type');
  if (kind === 'event') return null;
  const type = headers.get(kind === 'exception' ? ':exception-type' : ':error-code') ?? 'unknown';
  // Events name exceptions in lower case, and answers in upper case.
  const name = type.charAt(0).toUpperCase() + type.slice(1);
  const message = headers.get(':error-message') ?? messageIn(payload);
  const status = Object.hasOwn(STATUSES, name) ? { status: STATUSES[name] } : {};
  return Buffer.from(JSON.stringify({ __type: name, message, ...status }));
}

function messageIn(payload: Buffer): string {
  try {
    const body: unknown = JSON.parse(payload.toString());
    const { message } = (body ?? {}) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Below.
  }
  return payload.toString('utf8', 0, 2_000);
}
