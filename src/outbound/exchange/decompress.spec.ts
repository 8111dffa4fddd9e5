// Compressed answers of providers: every encoding, broken ones, and bombs.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import * as zlib from 'node:zlib';
import { peakMemoryOf } from '../../../test/support/memory.js';
import { listenLocally } from '../../../test/support/upstreams/local-server.js';
import type { LocalServer } from '../../../test/support/upstreams/local-server.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { HttpClient } from '../http-client.js';

const MEBIBYTE = 2 ** 20;
const TEXT = JSON.stringify({ data: Array.from({ length: 500 }, (_none, index) => index / 7) });
const LIMITS = { timeout: 20_000, maxResponseBytes: 100_000 };
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: typeof zlib.gzipSync };

let answer: { status: number; encoding: string; body: Buffer };
const server = createServer((_request, response) => {
  response.writeHead(answer.status, { 'content-encoding': answer.encoding }).end(answer.body);
});
const client = new HttpClient();
let local: LocalServer;
beforeAll(async () => {
  local = await listenLocally(server);
});
afterAll(async () => {
  await client.onApplicationShutdown();
  await local.close();
});

const receive = async (encoding: string, body: Buffer, status = 200) => {
  answer = { status, encoding, body };
  return client.send({ method: 'GET', url: local.origin, headers: {} }, LIMITS);
};

it.each([
  ['gzip', zlib.gzipSync(TEXT)],
  ['x-gzip', zlib.gzipSync(TEXT)],
  ['GZIP', zlib.gzipSync(TEXT)],
  ['deflate', zlib.deflateSync(TEXT)],
  ['deflate', zlib.deflateRawSync(TEXT)],
  ['br', zlib.brotliCompressSync(TEXT)],
  ['identity', Buffer.from(TEXT)],
  ['br, gzip', zlib.gzipSync(zlib.brotliCompressSync(TEXT))],
  ...(zstdCompressSync ? [['zstd', zstdCompressSync(TEXT)] as const] : []),
])('an answer in %s is read', async (encoding, body) => {
  expect((await receive(encoding, body)).body.toString()).toBe(TEXT);
});

it('an error in gzip keeps its text, and its status when it cannot be decompressed', async () => {
  expect(await receive('gzip', zlib.gzipSync('no such model'), 404)).toMatchObject({
    status: 404,
    body: Buffer.from('no such model'),
  });
  expect(await receive('gzip', Buffer.from('no such model'), 404)).toMatchObject({
    status: 404,
    body: Buffer.alloc(0),
  });
});

describe('a broken answer is one', () => {
  it.each([
    ['that is cut', 'gzip', zlib.gzipSync(TEXT).subarray(0, 100), 'the answer is not valid gzip'],
    ['that is not compressed', 'br', Buffer.from(TEXT), 'the answer is not valid br'],
    ['in an unknown encoding', 'compress', Buffer.from(TEXT), 'unknown content-encoding'],
    [
      "in an encoding by the name of an object's member",
      'constructor',
      Buffer.from(TEXT),
      'unknown content-encoding',
    ],
    ['in too many encodings', 'gzip, gzip, gzip', zlib.gzipSync(TEXT), 'compressed too often'],
  ])('%s', async (_what, encoding, body, message) => {
    const failure = await receive(encoding, body).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenAnswer);
    expect(failure).toHaveProperty('message', expect.stringContaining(message));
  });

  it.each([
    ['gzip', zlib.gzipSync(Buffer.alloc(64 * MEBIBYTE))],
    ['br', zlib.brotliCompressSync(Buffer.alloc(64 * MEBIBYTE))],
  ])('is rejected beyond its bound in %s, without the memory for it', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(LIMITS.maxResponseBytes);
    const peak = await peakMemoryOf(async () => {
      const failure = await receive(encoding, bomb).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(BrokenAnswer);
      expect(failure).toHaveProperty(
        'message',
        'the answer is larger than 100000 bytes once it is decompressed',
      );
    });
    expect(peak).toBeLessThan(32 * MEBIBYTE);
  });
});
