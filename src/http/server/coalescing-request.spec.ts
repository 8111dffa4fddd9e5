// The pieces of a body on a real connection, whose pauses end when a test ends them.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useBodyConnection } from '../../../test/support/requests/body-connection.js';
import { createRequestClass } from './coalescing-request.js';
import type { PausedRead } from './read-throttle.js';

const PIECES = 200_000;
/** Node reads 64 KiB of a connection at once, and a piece of one byte is six on the wire. */
const PIECES_OF_A_READ = Math.ceil(65_536 / 6);

let paused: PausedRead[];
const connection = useBodyConnection(createRequestClass({ add: (read) => paused.push(read) }));
beforeEach(() => {
  paused = [];
});

const send = (pieces: string): Promise<IncomingMessage> =>
  connection.request('Transfer-Encoding: chunked', `${pieces}0\r\n\r\n`);

function countBytes(request: IncomingMessage): () => number {
  let bytes = 0;
  request.on('data', (piece: Buffer) => (bytes += piece.length));
  return () => bytes;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function untilPaused(): Promise<PausedRead> {
  for (;;) {
    const read = paused.shift();
    if (read) return read;
    await turns(1);
  }
}

describe('a body in pieces of one byte', () => {
  it('is read no further while its connection is paused, and whole after it', async () => {
    const request = await send('1\r\na\r\n'.repeat(PIECES));
    const received = countBytes(request);
    const ended = once(request, 'end');
    let before = 0;
    let pauses = 0;
    while (before < PIECES - PIECES_OF_A_READ) {
      const read = await untilPaused();
      await turns(50);
      expect(received() - before).toBeLessThanOrEqual(PIECES_OF_A_READ);
      expect(read.pieces()).toBe(received() - before);
      before = received();
      pauses++;
      read.end();
    }
    const last = setInterval(() => paused.shift()?.end(), 1);
    await ended;
    clearInterval(last);
    expect(received()).toBe(PIECES);
    expect(pauses).toBeGreaterThanOrEqual(PIECES / PIECES_OF_A_READ - 2);
  });

  it('is paused also when its reader comes late', async () => {
    const request = await send('1\r\na\r\n'.repeat(PIECES));
    const read = await untilPaused();
    await turns(50);
    const received = countBytes(request);
    await turns(50);
    expect(received()).toBeLessThanOrEqual(PIECES_OF_A_READ);
    read.end();
    await untilPaused();
    await turns(50);
    expect(received()).toBeGreaterThan(1_024);
  });

  it('holds up nothing once its connection is closed', async () => {
    const request = await send('1\r\na\r\n'.repeat(PIECES));
    request.resume();
    request.on('error', () => undefined);
    const read = await untilPaused();
    const closed = once(request, 'close');
    request.destroy();
    await closed;
    expect(read.pieces()).toBe(0);
    read.end();
  });
});

describe('a body in pieces of usual size', () => {
  it('is never paused', async () => {
    const piece = 'a'.repeat(2_000);
    const request = await send(`${piece.length.toString(16)}\r\n${piece}\r\n`.repeat(3_000));
    const received = countBytes(request);
    await once(request, 'end');
    expect(received()).toBe(6_000_000);
    expect(paused).toEqual([]);
  });
});
