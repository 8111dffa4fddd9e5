// The pump between real sockets; the test moves the time.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import {
  KEEP_ALIVE_MS,
  LAB_LIMITS,
  PumpLab,
  pulled,
  upstreamClosed,
} from '../../../test/support/chat/pump-lab.js';
import { chunksOf, joinedText } from '../../../test/support/chat/relay.js';
import { openAiChunk, openAiFinish, OPENAI_USAGE, sse } from '../../../test/support/chat/upstream-streams.js';
import { DONE } from '../clients/chat.js';

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

describe('a stream', () => {
  it('reaches the client as it comes, and ends once', async () => {
    const call = await lab.call();
    call.upstream.write(ROLE + HELLO);
    await call.read('Hello');
    await call.pump.opened;
    call.upstream.end(FINISH + USAGE + sse('[DONE]'));
    expect(await call.end).toBe('completed');
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
    expect(await call.end).toBe('provider_before_content');
    expect(call.client.hasSentHeaders).toBe(false);
    expect(call.relay.failure).toMatchObject({ error: { status: 429 } });
    await upstreamClosed(call);
  });

  it('is finished by its end without [DONE], and failed by an early end', async () => {
    const complete = await lab.call();
    complete.upstream.end(HELLO + FINISH);
    expect(await complete.end).toBe('completed');
    const cut = await lab.call();
    cut.upstream.end(HELLO);
    expect(await cut.end).toBe('provider_after_content');
    expect(cut.relay.failure).toMatchObject({ kind: 'broken_answer' });
  });

  it('fails when the connection is lost, unless the answer is complete', async () => {
    const lost = await lab.call();
    lost.upstream.write(HELLO);
    await lost.read('Hello');
    lost.upstreamSocket.destroy();
    expect(await lost.end).toBe('provider_after_content');
    expect(lost.relay.failure).toMatchObject({ kind: 'connection' });
    const complete = await lab.call();
    complete.upstream.write(HELLO + FINISH);
    await pulled(complete, HELLO.length + FINISH.length);
    complete.upstreamSocket.destroy();
    expect(await complete.end).toBe('completed');
    await complete.read('"finish_reason":"stop"');
  });
});

describe('usage after the last finish reason', () => {
  it('is awaited for 5 s', async () => {
    const call = await lab.call();
    call.upstream.write(HELLO + FINISH);
    await pulled(call, HELLO.length + FINISH.length);
    call.scheduler.advance(4_999);
    call.upstream.write(USAGE);
    await pulled(call, HELLO.length + FINISH.length + USAGE.length);
    call.scheduler.advance(1);
    expect(await call.end).toBe('completed');
    expect(call.relay.usage).not.toBeNull();
    await call.read('"finish_reason":"stop"');
    // The body does not end within its second: the connection is closed.
    call.scheduler.advance(1_000);
    await upstreamClosed(call);
  });

  it('begins again with content behind a finish reason, which ended nothing', async () => {
    const call = await lab.call();
    const finished = (content: string): string =>
      sse(openAiChunk({}, { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }));
    let written = 0;
    for (let piece = 0; piece < 9; piece++) {
      call.upstream.write(finished(`${piece} `));
      written += finished(`${piece} `).length;
      await pulled(call, written);
      call.scheduler.advance(900);
    }
    call.upstream.end(USAGE);
    expect(await call.end).toBe('completed');
    const text = await call.read('"finish_reason":"stop"');
    expect(joinedText(chunksOf(text))).toBe('0 1 2 3 4 5 6 7 8 ');
    expect(text.match(/"finish_reason":"stop"/g)).toHaveLength(1);
    expect(call.relay.usage).toMatchObject({ promptTokens: 9, completionTokens: 12 });
  });

  it('ends the wait with [DONE], and its connection is free for the next call', async () => {
    const call = await lab.call();
    call.upstream.write(HELLO + FINISH + sse('[DONE]'));
    expect(await call.end).toBe('completed');
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
  it('sends headers and comments every 15 s, between events only', async () => {
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
    expect(await call.end).toBe('own_timeout');
    expect(call.relay.failure).toEqual({ kind: 'timeout', message: 'no content in time' });
    await upstreamClosed(call);
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
    expect(await call.end).toBe('provider_after_content');
    expect(call.relay.failure).toEqual({ kind: 'timeout', message: 'the stream stopped before its end' });
  });
});

it('stop() fails no answer whose choices have finished', async () => {
  const call = await lab.call();
  call.upstream.write(HELLO + FINISH);
  await pulled(call, HELLO.length + FINISH.length);
  call.pump.stop('deadline');
  expect(await call.end).toBe('completed');
  expect(call.relay.failure).toBeNull();
  await call.read('"finish_reason":"stop"');
});

it('stop() ends the work once, with the first reason', async () => {
  const call = await lab.call();
  call.upstream.write(HELLO);
  await call.read('Hello');
  call.pump.stop('deadline');
  call.pump.stop('shutdown');
  expect(await call.end).toBe('caller_deadline');
  await upstreamClosed(call);
});
