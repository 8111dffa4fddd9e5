// The pump between real sockets; the test moves the time.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { KEEP_ALIVE_MS, LAB_LIMITS, PumpLab, SLOW_READER_MS } from '../../../test/support/chat/pump-lab.js';
import type { LabCall } from '../../../test/support/chat/pump-lab.js';
import { chunksOf, joinedText } from '../../../test/support/chat/relay.js';
import { openAiChunk, openAiFinish, OPENAI_USAGE, sse } from '../../../test/support/chat/upstream-streams.js';
import { DONE } from './stream-events.js';

const ROLE = sse(openAiChunk({ role: 'assistant', content: '' }));
const HELLO = sse(openAiChunk({ content: 'Hello' }));
const FINISH = sse(openAiFinish('stop'));
const USAGE = sse({ ...openAiChunk({}), choices: [], usage: OPENAI_USAGE });
const COMMENT = ': OPENROUTER PROCESSING\n\n';

let lab: PumpLab;
beforeEach(() => {
  lab = new PumpLab();
});
afterEach(() => lab.close());

const closed = ({ upstreamSocket }: LabCall): Promise<void> =>
  new Promise((resolve) => {
    // A connection that is closed while the upstream writes ends with an error there.
    upstreamSocket.on('error', () => undefined);
    if (upstreamSocket.destroyed) resolve();
    else upstreamSocket.once('close', () => resolve());
  });
/** The pump has read what the upstream has written so far. */
const pulled = (call: LabCall, bytes: number): Promise<number> =>
  eventually(
    () => Promise.resolve(call.pulled()),
    (count) => count >= bytes,
  );

describe('a stream', () => {
  it('reaches the client as it comes, and ends once', async () => {
    const call = await lab.call();
    call.upstream.write(ROLE + HELLO);
    await call.read('Hello');
    await call.pump.opened;
    call.upstream.end(FINISH + USAGE + sse('[DONE]'));
    expect(await call.end).toBe('finished');
    expect(call.relay.usage).toMatchObject({ promptTokens: 9, completionTokens: 12 });
    call.client.write(DONE);
    await call.client.end();
    const text = await call.read('[DONE]');
    expect(joinedText(chunksOf(text))).toBe('Hello');
    expect([call.disconnects, call.scheduler.pending]).toEqual([0, 0]);
  });

  it('writes nothing before the first content', async () => {
    const call = await lab.call();
    call.upstream.write(ROLE + sse({ error: { code: 429, message: 'slow down' } }));
    expect(await call.end).toBe('failed');
    expect(call.client.hasSentHeaders).toBe(false);
    expect(call.relay.failure).toMatchObject({ error: { status: 429 } });
    await closed(call);
  });

  it('is finished by its end without [DONE], and failed by an early end', async () => {
    const complete = await lab.call();
    complete.upstream.end(HELLO + FINISH);
    expect(await complete.end).toBe('finished');
    const cut = await lab.call();
    cut.upstream.end(HELLO);
    expect(await cut.end).toBe('failed');
    expect(cut.relay.failure).toMatchObject({ kind: 'broken_answer' });
  });

  it('fails when the connection is lost, unless the answer is complete', async () => {
    const lost = await lab.call();
    lost.upstream.write(HELLO);
    await lost.read('Hello');
    lost.upstreamSocket.destroy();
    expect(await lost.end).toBe('failed');
    expect(lost.relay.failure).toMatchObject({ kind: 'connection' });
    const complete = await lab.call();
    complete.upstream.write(HELLO + FINISH);
    await complete.read('native_finish_reason');
    complete.upstreamSocket.destroy();
    expect(await complete.end).toBe('finished');
  });
});

describe('usage after the last finish reason', () => {
  it('is awaited for 5 s', async () => {
    const call = await lab.call();
    call.upstream.write(HELLO + FINISH);
    await call.read('native_finish_reason');
    call.scheduler.advance(4_999);
    call.upstream.write(USAGE);
    await pulled(call, HELLO.length + FINISH.length + USAGE.length);
    call.scheduler.advance(1);
    expect(await call.end).toBe('finished');
    expect(call.relay.usage).not.toBeNull();
    // The body does not end within its second: the connection is closed.
    call.scheduler.advance(1_000);
    await closed(call);
  });

  it('ends the wait with [DONE], and its connection is free for the next call', async () => {
    const call = await lab.call();
    call.upstream.write(HELLO + FINISH + sse('[DONE]'));
    expect(await call.end).toBe('finished');
    call.upstream.end();
    await eventually(
      () => Promise.resolve(call.scheduler.pending),
      (timers) => timers === 1,
    );
    // The keep-alive comment's timer is left: the record is being committed.
    await call.client.end();
    expect([call.scheduler.pending, call.upstreamSocket.destroyed]).toEqual([0, false]);
  });
});

describe('silence', () => {
  it('X21: sends headers and comments every 15 s, between events only', async () => {
    const call = await lab.call();
    call.scheduler.advance(KEEP_ALIVE_MS);
    expect(await call.read(COMMENT)).toBe(COMMENT);
    expect(call.client.hasSentHeaders).toBe(true);
    const half = Buffer.from(HELLO).subarray(0, 100);
    call.upstream.write(half);
    await pulled(call, half.length);
    call.scheduler.advance(KEEP_ALIVE_MS);
    await call.read(COMMENT + COMMENT);
    call.upstream.write(Buffer.from(HELLO).subarray(100));
    const text = await call.read('Hello');
    expect(text.startsWith(`${COMMENT}${COMMENT}data: {`)).toBe(true);
    call.scheduler.advance(KEEP_ALIVE_MS - 1);
    expect(call.client.keepAlives).toBe(2);
    call.scheduler.advance(1);
    expect(call.client.keepAlives).toBe(3);
  });

  it('before the first content ends with a time-out that comments of the upstream do not extend', async () => {
    const call = await lab.call();
    call.scheduler.advance(LAB_LIMITS.firstTokenMs - 1);
    call.upstream.write(`: waiting\n\n${ROLE}`);
    await pulled(call, ROLE.length);
    call.scheduler.advance(1);
    expect(await call.end).toBe('failed');
    expect(call.relay.failure).toEqual({ kind: 'timeout', message: 'no content in time' });
    await closed(call);
  });

  it('after the first content ends with a time-out, which any byte of the upstream extends', async () => {
    const call = await lab.call();
    call.upstream.write(HELLO);
    await call.read('Hello');
    call.scheduler.advance(LAB_LIMITS.idleMs - 1);
    call.upstream.write(': waiting\n\n');
    await pulled(call, HELLO.length + 11);
    call.scheduler.advance(LAB_LIMITS.idleMs - 1);
    expect(call.relay.failure).toBeNull();
    call.scheduler.advance(1);
    expect(await call.end).toBe('failed');
    expect(call.relay.failure).toEqual({ kind: 'timeout', message: 'the stream stopped before its end' });
  });
});

describe('a slow client', () => {
  const PIECE = sse(openAiChunk({ content: 'x'.repeat(65_000) }));
  const PIECES = 800;

  /** Writes 50 MB as fast as the pump takes it, or until the pump ends. */
  async function flood({ upstream, end }: LabCall): Promise<void> {
    let wake = (): void => undefined;
    const state = { isOver: false };
    upstream.on('drain', () => wake());
    upstream.on('error', () => undefined);
    const stop = async (): Promise<void> => {
      await end;
      state.isOver = true;
      wake();
    };
    void stop();
    for (let count = 0; count < PIECES && !state.isOver; count++) {
      if (!upstream.write(PIECE)) await new Promise<void>((resolve) => (wake = resolve));
    }
    upstream.end(FINISH + USAGE + sse('[DONE]'));
  }

  async function stalled(call: LabCall): Promise<number> {
    let before = -1;
    await eventually(
      async () => {
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        const now = call.pulled();
        const isStill = now === before && call.client.isFull;
        before = now;
        return isStill;
      },
      (isStill) => isStill,
    );
    return before;
  }

  it('X22: pauses the upstream, and gets every byte when it reads', async () => {
    const call = await lab.call();
    const flooding = flood(call);
    // Both sockets' buffers of the system are full, and the service holds no more than its bound and one read.
    const taken = await stalled(call);
    expect(taken).toBeLessThan(PIECES * PIECE.length * 0.5);
    // Idle time does not count while the upstream is paused.
    call.scheduler.advance(SLOW_READER_MS - 1);
    const reading = call.read('"finish_reason":"stop"');
    expect(joinedText(chunksOf(await reading))).toHaveLength(PIECES * 65_000);
    expect(await call.end).toBe('finished');
    await flooding;
  });

  it('X22: counts as gone after 60 s in which its socket takes nothing', async () => {
    const call = await lab.call();
    const flooding = flood(call);
    await stalled(call);
    call.scheduler.advance(SLOW_READER_MS * 2);
    expect(await call.end).toBe('cancelled');
    expect([call.client.gone, call.disconnects]).toEqual(['slow_reader', 1]);
    await closed(call);
    await flooding;
  });
});

describe('a client that leaves', () => {
  it('X1: ends the upstream’s work when the decision is to cancel', async () => {
    const call = await lab.call('cancel');
    call.upstream.write(HELLO);
    await call.read('Hello');
    call.leave();
    expect(await call.end).toBe('cancelled');
    expect([call.client.gone, call.disconnects, call.scheduler.pending]).toEqual(['closed', 1, 0]);
    await closed(call);
    expect(call.relay.choices()[0]?.content).toBe('Hello');
  });

  it('X12: is read to its usage when the decision is to drain', async () => {
    const call = await lab.call({ drainMs: 30_000 });
    call.upstream.write(HELLO);
    await call.read('Hello');
    call.leave();
    await eventually(
      () => Promise.resolve(call.disconnects),
      (count) => count === 1,
    );
    call.upstream.end(HELLO + FINISH + USAGE + sse('[DONE]'));
    expect(await call.end).toBe('finished');
    expect(call.relay.usage).toMatchObject({ completionTokens: 12 });
    expect(call.relay.choices()[0]?.content).toBe('HelloHello');
  });

  it('is cancelled when the drain takes too long', async () => {
    const call = await lab.call({ drainMs: 30_000 });
    call.upstream.write(HELLO);
    await call.read('Hello');
    call.leave();
    await eventually(
      () => Promise.resolve(call.disconnects),
      (count) => count === 1,
    );
    call.upstream.write(HELLO);
    await pulled(call, HELLO.length * 2);
    call.scheduler.advance(29_999);
    expect(call.relay.isFinished).toBe(false);
    call.scheduler.advance(1);
    expect(await call.end).toBe('cancelled');
    await closed(call);
  });

  it('X11: is seen before the first byte', async () => {
    const call = await lab.call('cancel');
    call.upstream.write(ROLE);
    await pulled(call, ROLE.length);
    call.leave();
    expect(await call.end).toBe('cancelled');
    expect([call.client.hasSentHeaders, call.relay.hasContent]).toEqual([false, false]);
    await closed(call);
  });

  it('is drained even when its socket was full', async () => {
    const call = await lab.call({ drainMs: 30_000 });
    const piece = sse(openAiChunk({ content: 'x'.repeat(65_000) }));
    let written = 0;
    while (!call.client.isFull) {
      call.upstream.write(piece);
      written++;
      await pulled(call, written * piece.length - 65_536);
    }
    call.upstream.end(FINISH + USAGE + sse('[DONE]'));
    call.leave();
    expect(await call.end).toBe('finished');
    expect(call.relay.usage).not.toBeNull();
  });
});

it('abort() ends the work once, with its failure', async () => {
  const call = await lab.call();
  call.upstream.write(HELLO);
  await call.read('Hello');
  call.pump.abort({ kind: 'timeout', message: 'the deadline has passed' });
  call.pump.abort({ kind: 'timeout', message: 'again' });
  expect(await call.end).toBe('aborted');
  expect(call.relay.failure).toEqual({ kind: 'timeout', message: 'the deadline has passed' });
  await closed(call);
});
