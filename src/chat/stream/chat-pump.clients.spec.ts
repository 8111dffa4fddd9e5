// The pump and clients that read slowly or leave, between real sockets; the test moves the time.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { LAB_LIMITS, PumpLab, pulled, upstreamClosed } from '../../../test/support/chat/pump-lab.js';
import type { LabCall } from '../../../test/support/chat/pump-lab.js';
import { chunksOf, joinedText } from '../../../test/support/chat/relay.js';
import { openAiChunk, openAiFinish, OPENAI_USAGE, sse } from '../../../test/support/chat/upstream-streams.js';

const ROLE = sse(openAiChunk({ role: 'assistant', content: '' }));
const HELLO = sse(openAiChunk({ content: 'Hello' }));
const FINISH = sse(openAiFinish('stop'));
const USAGE = sse({ ...openAiChunk({}), choices: [], usage: OPENAI_USAGE });

let lab: PumpLab;
beforeEach(() => {
  lab = new PumpLab();
});
afterEach(() => lab.close());

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

  it('pauses the upstream, and gets every byte when it reads', async () => {
    const call = await lab.call();
    const flooding = flood(call);
    // Both sockets' buffers of the system are full, and the service holds no more than its bound and one read.
    const taken = await stalled(call);
    expect(taken).toBeLessThan(PIECES * PIECE.length * 0.5);
    // Idle time does not count while the upstream is paused.
    call.scheduler.advance(LAB_LIMITS.idleMs * 2);
    const reading = call.read('"finish_reason":"stop"');
    expect(joinedText(chunksOf(await reading))).toHaveLength(PIECES * 65_000);
    expect(await call.end).toBe('completed');
    await flooding;
  });

  it('counts as gone when it is too slow', async () => {
    const call = await lab.call();
    const flooding = flood(call);
    await stalled(call);
    call.client.leave('too_slow');
    expect(await call.end).toBe('caller_too_slow');
    expect([call.client.gone, call.disconnects]).toEqual(['too_slow', 1]);
    await upstreamClosed(call);
    await flooding;
  });

  it.each([
    ['has waited for it, is lost by the client', 10_000, 'caller_too_slow'],
    ['has hardly waited for it, is lost by the provider', 9_999, 'provider_after_content'],
  ])('of a stream whose connection breaks after it %s', async (_title, waited, ending) => {
    const call = await lab.call();
    const flooding = flood(call);
    await stalled(call);
    call.scheduler.advance(waited);
    const reading = call.read('never').catch(() => undefined);
    call.upstream.destroy();
    expect(await call.end).toBe(ending);
    await flooding;
    call.leave();
    await reading;
  });
});

describe('a client that leaves', () => {
  /** Resolves when the pump has noticed it. */
  async function leave(call: LabCall): Promise<void> {
    call.leave();
    await eventually(
      () => Promise.resolve(call.disconnects),
      (count) => count === 1,
    );
  }

  it('ends the upstream’s work when the decision is to cancel', async () => {
    const call = await lab.call('cancel');
    call.upstream.write(HELLO);
    await call.read('Hello');
    call.leave();
    expect(await call.end).toBe('caller_left');
    expect([call.client.gone, call.disconnects, call.scheduler.pending]).toEqual(['left', 1, 0]);
    await upstreamClosed(call);
    expect(call.relay.choices()[0]?.content).toBe('Hello');
  });

  it('is read to its usage when the decision is to drain', async () => {
    const call = await lab.call({ drainMs: 30_000 });
    call.upstream.write(HELLO);
    await call.read('Hello');
    await leave(call);
    call.upstream.end(HELLO + FINISH + USAGE + sse('[DONE]'));
    expect(await call.end).toBe('caller_left');
    expect(call.relay.usage).toMatchObject({ completionTokens: 12 });
    expect(call.relay.choices()[0]?.content).toBe('HelloHello');
  });

  it('is cancelled when the drain takes too long', async () => {
    const call = await lab.call({ drainMs: 30_000 });
    call.upstream.write(HELLO);
    await call.read('Hello');
    await leave(call);
    call.upstream.write(HELLO);
    await pulled(call, HELLO.length * 2);
    call.scheduler.advance(29_999);
    expect(call.relay.isFinished).toBe(false);
    call.scheduler.advance(1);
    expect(await call.end).toBe('caller_left');
    await upstreamClosed(call);
  });

  it('is seen before the first byte', async () => {
    const call = await lab.call('cancel');
    call.upstream.write(ROLE);
    await pulled(call, ROLE.length);
    call.leave();
    expect(await call.end).toBe('caller_left');
    expect([call.client.hasSentHeaders, call.relay.hasContent]).toEqual([false, false]);
    await upstreamClosed(call);
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
    expect(await call.end).toBe('caller_left');
    expect(call.relay.usage).not.toBeNull();
  });
});
