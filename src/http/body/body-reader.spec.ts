// Reads bodies on a real connection, in pieces of any size, and their memory before they are read.
import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../domain/errors.js';
import { readBody } from './body-reader.js';
import { useBodyConnection } from '../../../test/support/requests/body-connection.js';
import { createRequestClass } from '../server/coalescing-request.js';
import type { PausedRead } from '../server/read-throttle.js';

const LIMIT = 1_000_000;
const unhurried = { add: ({ end }: PausedRead) => void setImmediate(end) };
const { client, request } = useBodyConnection(createRequestClass(unhurried));
const BODY = Buffer.from(Array.from({ length: 50_000 }, (_none, index) => 33 + (index % 90)));

let taken: number;
let giveUp: () => void;
const watched = new Set<() => void>();
beforeEach(() => {
  taken = 0;
  watched.clear();
});

const transfers = {
  watchUpload: (_received: () => number, end: () => void) => {
    giveUp = end;
    watched.add(end);
    return () => void watched.delete(end);
  },
};
const acquireBytes = (bytes: number): void => void (taken += bytes);

const read = (incoming: IncomingMessage, limit = LIMIT) =>
  readBody(incoming, { limit, acquireBytes, transfers });
const inChunks = (body: Buffer, size: number): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
};
const CHUNKED = 'Transfer-Encoding: chunked';

describe('a body', () => {
  it.each([[1], [3], [1_000], [1_024], [40_000]])(
    'is read completely in chunks of %i bytes',
    async (size) => {
      expect((await read(await request(CHUNKED, inChunks(BODY, size)))).equals(BODY)).toBe(true);
      expect(taken).toBeGreaterThanOrEqual(BODY.length);
      expect(taken).toBeLessThan(2 * BODY.length + 65_536);
      expect(watched.size).toBe(0);
    },
  );

  it('waits in few buffers until it is read, also in chunks of one byte', async () => {
    const incoming = await request(CHUNKED, inChunks(BODY.subarray(0, 30_000), 1));
    while (!incoming.complete && incoming.readableLength < 1)
      await new Promise((resolve) => setImmediate(resolve));
    for (let ticks = 0; ticks < 100; ticks++) await new Promise((resolve) => setImmediate(resolve));
    const { buffer } = (incoming as unknown as { _readableState: { buffer: { length: number } } })
      ._readableState;
    expect(buffer.length).toBeLessThan(20);
    expect((await read(incoming)).equals(BODY.subarray(0, 30_000))).toBe(true);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('is unpacked from %s, and counts its unpacked bytes', async (encoding, pack) => {
    const packed = pack(BODY);
    const head = `Content-Encoding: ${encoding}\r\nContent-Length: ${packed.length}`;
    expect((await read(await request(head, packed))).equals(BODY)).toBe(true);
    expect(taken).toBeGreaterThanOrEqual(BODY.length);
  });

  it('is unpacked from zstd where Node can, with a window of at most 8 MiB', async () => {
    const { zstdCompressSync: pack, constants } = zlib as unknown as {
      readonly zstdCompressSync?: (body: Buffer, options?: object) => Buffer;
      readonly constants: Readonly<Record<string, number>>;
    };
    const send = async (packed: Buffer) =>
      read(await request(`Content-Encoding: zstd\r\nContent-Length: ${packed.length}`, packed));
    if (pack === undefined) {
      await expect(send(BODY)).rejects.toMatchObject({ type: 'encoding.unsupported' });
      return;
    }
    expect((await send(pack(BODY))).equals(BODY)).toBe(true);
    await expect(send(pack(Buffer.alloc(50 * LIMIT)))).rejects.toMatchObject({ type: 'entity.too.large' });
    const params = { [constants['ZSTD_c_windowLog'] ?? 0]: 27 };
    await expect(send(pack(Buffer.alloc(50 * LIMIT), { params }))).rejects.toThrow();
  });

  it.each([
    ['announced', `Content-Length: ${LIMIT + 1}`, ''],
    ['in chunks', CHUNKED, inChunks(Buffer.alloc(LIMIT + 1), 60_000)],
    ['packed', `Content-Encoding: gzip\r\n${CHUNKED}`, inChunks(gzipSync(Buffer.alloc(50 * LIMIT)), 60_000)],
    // Unpacks to nothing, endlessly.
    [
      'of empty blocks',
      `Content-Encoding: gzip\r\n${CHUNKED}`,
      inChunks(
        Buffer.concat([
          gzipSync('').subarray(0, 10),
          ...Array.from({ length: 300_000 }, () => Buffer.from([0, 0, 0, 0xff, 0xff])),
        ]),
        60_000,
      ),
    ],
  ])('is rejected above the limit: %s', async (_name, head, body) => {
    await expect(read(await request(head, body))).rejects.toMatchObject({ type: 'entity.too.large' });
    expect(taken).toBeLessThanOrEqual(2 * LIMIT);
    expect(watched.size).toBe(0);
  });

  it('is rejected as it arrives when it exceeds the bytes in flight', async () => {
    const incoming = await request(`Content-Length: ${BODY.length}`, BODY.subarray(0, 40_000));
    const overloaded = new AppError('overloaded');
    const reading = readBody(incoming, {
      limit: LIMIT,
      acquireBytes: () => {
        throw overloaded;
      },
      transfers,
    });
    await expect(reading).rejects.toBe(overloaded);
  });

  it('ends with 408 when it does not arrive', async () => {
    const reading = read(await request('Content-Length: 100', 'abc'));
    giveUp();
    await expect(reading).rejects.toMatchObject({ code: 'operation_timeout', status: 408 });
    expect(watched.size).toBe(0);
  });

  it.each(['', 'Content-Encoding: gzip\r\n'])(
    'ends early when its caller disconnects: "%s"',
    async (encoding) => {
      const reading = read(await request(`${encoding}Content-Length: 100`, gzipSync('abc')));
      client().destroy();
      await expect(reading).rejects.toMatchObject({ type: 'request.aborted' });
      expect(watched.size).toBe(0);
    },
  );

  it('is rejected with a wrong Content-Encoding', async () => {
    const incoming = await request('Content-Encoding: gzip\r\nContent-Length: 3', 'abc');
    await expect(read(incoming)).rejects.toThrow('incorrect header check');
    const unknown = read(Object.assign(incoming, { headers: { 'content-encoding': 'compress' } }));
    await expect(unknown).rejects.toMatchObject({ type: 'encoding.unsupported' });
  });
});
