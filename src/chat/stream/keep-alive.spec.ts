// Silence of a provider, as clients of each wire see it.
import { afterAll, describe, expect, it } from '@jest/globals';
import { answerEnd, createRelay } from '../../../test/support/chat/relay.js';
import { KEEP_ALIVE_MS, LAB_LIMITS, pulled, PumpLab } from '../../../test/support/chat/pump-lab.js';
import { openAiChunk, openAiFinish, sse } from '../../../test/support/chat/upstream-streams.js';
import {
  accumulated,
  parsedEvents,
  RESPONSES_FORM,
} from '../../../test/support/responses/relayed-response.js';
import { answerEvents, eventText, RICH_OUTPUT } from '../../../test/support/responses/responses-events.js';
import type { ChatStreamRelay } from './chat-stream-relay.js';

const lab = new PumpLab();
afterAll(() => lab.close());

const CHAT_BODY = sse(
  openAiChunk({ role: 'assistant', content: '' }),
  openAiChunk({ content: 'Hello' }),
  openAiChunk({ content: ' world' }),
  openAiFinish('stop'),
  '[DONE]',
);
const RESPONSES_BODY = answerEvents(RICH_OUTPUT).map(eventText).join('');
const COMMENT = ': OPENROUTER PROCESSING\n\n';
const RESPONSES = { client: 'responses', protocol: 'responses' } as const;

/** The whole stream, with an event or a comment in every silence that there can be. */
function relayedWithSilence(relay: ChatStreamRelay, body: string): string {
  const output: string[] = [];
  for (const event of body.split(/(?<=\n\n)/)) {
    relay.push(Buffer.from(event));
    output.push(relay.take()?.toString() ?? '', relay.keepAlive()?.toString() ?? '');
  }
  relay.end();
  return output.join('') + relay.last(answerEnd()).toString();
}

const typesOf = (events: readonly { readonly type: string }[]): string[] => events.map(({ type }) => type);

describe('an event instead of a comment', () => {
  it.each([
    ['of the same wire', RESPONSES, RESPONSES_BODY],
    ['of another wire', { client: 'responses' } as const, CHAT_BODY],
  ])('has the next number in a stream %s, which the SDK joins as without it', (_wire, stream, body) => {
    const silent = createRelay(stream, { responses: RESPONSES_FORM });
    const events = parsedEvents(relayedWithSilence(silent, body));
    expect(typesOf(events).filter((type) => type === 'keepalive').length).toBeGreaterThan(1);
    const steady = createRelay(stream, { responses: RESPONSES_FORM });
    steady.push(Buffer.from(body));
    const others = parsedEvents((steady.take()?.toString() ?? '') + steady.last(answerEnd()).toString());
    expect(typesOf(events).filter((type) => type !== 'keepalive')).toEqual(typesOf(others));
    const { joined, last } = accumulated(events);
    expect([joined.output, last]).toEqual([last.output, accumulated(others).last]);
  });

  it('keeps the digits of numbers in events whose own number moves', () => {
    const relay = createRelay(RESPONSES, { responses: RESPONSES_FORM });
    const output = relayedWithSilence(relay, RESPONSES_BODY);
    expect(output).toContain('12345678901234567890');
  });

  it('comes only after the client has an event of the answer', () => {
    const relay = createRelay({ client: 'responses' }, { responses: RESPONSES_FORM });
    expect(relay.keepAlive()).toBeNull();
    relay.push(Buffer.from(CHAT_BODY.slice(0, CHAT_BODY.indexOf(' world'))));
    expect(relay.keepAlive()).toBeNull();
    expect(relay.take()?.toString()).toContain('"delta":"Hello"');
    expect(relay.keepAlive()?.toString()).toMatch(/^event: keepalive\ndata: \{"type":"keepalive"/);
  });

  it.each(['chat', 'messages'] as const)('is not sent to a client of the wire %s', (client) => {
    const relay = createRelay({ client });
    relay.push(Buffer.from(CHAT_BODY));
    expect(relay.take()?.toString()).toContain('Hello');
    expect(relay.keepAlive()).toBeNull();
  });
});

describe('seven minutes of silence with comments of the provider', () => {
  const SILENCE_MS = 7 * 60_000;
  const STEP_MS = LAB_LIMITS.idleMs / 2;
  const THINKING = ': thinking\n\n';

  it.each([
    ['chat', COMMENT],
    ['messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['responses', COMMENT],
  ] as const)('end no stream of the client wire %s, which stays alive', async (client, signal) => {
    const relay = createRelay({ client }, { responses: RESPONSES_FORM });
    const call = await lab.call('cancel', { relay, wire: client });
    const [before = '', after = ''] = CHAT_BODY.split(/(?<=Hello.*\n\n)/);
    let written = before.length;
    call.upstream.write(before);
    await call.read('Hello');
    for (let passed = 0; passed < SILENCE_MS; passed += STEP_MS) {
      call.scheduler.advance(STEP_MS);
      call.upstream.write(THINKING);
      await pulled(call, (written += THINKING.length));
    }
    call.upstream.end(after);
    expect(await call.end).toBe('completed');
    const text = await call.read(client === 'responses' ? 'output_item.done' : ' world');
    const times = SILENCE_MS / KEEP_ALIVE_MS;
    expect([text.split(signal).length - 1, call.client.keepAlives]).toEqual([times, times]);
  });

  it('reach a client of Responses as numbered events where the operator chooses them', async () => {
    const relay = createRelay({ client: 'responses' }, { responses: RESPONSES_FORM });
    const call = await lab.call('cancel', { relay, wire: 'responses' });
    call.client.keepAliveEvent = () => relay.keepAlive();
    call.scheduler.advance(KEEP_ALIVE_MS);
    expect(await call.read('\n\n')).toBe(COMMENT);
    const [before = '', after = ''] = CHAT_BODY.split(/(?<=Hello.*\n\n)/);
    call.upstream.write(before);
    await call.read('Hello');
    call.scheduler.advance(KEEP_ALIVE_MS);
    await call.read('"type":"keepalive"');
    call.upstream.end(after);
    expect(await call.end).toBe('completed');
    const text = (await call.read('output_item.done')) + relay.last(answerEnd()).toString();
    const events = parsedEvents(text.slice(COMMENT.length));
    expect(typesOf(events).filter((type) => type === 'keepalive')).toHaveLength(1);
    expect(accumulated(events).joined.output).toMatchObject([{ content: [{ text: 'Hello world' }] }]);
  });
});
