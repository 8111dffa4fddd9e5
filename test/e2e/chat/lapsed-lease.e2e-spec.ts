// A process that finds the lease of its streams lapsed, as after it was suspended for longer than calls may last: it ends
// them, and they take nothing from the calls that have the money now (docs/contract.md#spend).
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { SpendLedger } from '../../../src/persistence/spend/spend-ledger.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import { passHeldTime } from '../../support/database/leases.js';
import { eventually } from '../../support/eventually.js';
import {
  answerChat,
  beginStream,
  chatsOf,
  sendEvent,
  startChat,
  streamChat,
  text,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';

const STREAMS = 3;
const CALL = { max_tokens: 1_000 };
/** The reservations of the streams. */
const LIMIT = parseUsd('0.0052');

let setup: ChatSetup;
beforeAll(async () => {
  setup = await startChat();
});
afterAll(() => setup.close());

it('ends the streams with an error of code 503, and charges at most what the limit has left', async () => {
  const { app, upstream } = setup;
  const { secret, record } = await app.createKey({ limit: LIMIT });
  const open: ServerResponse[] = [];
  upstream.answerWith((_request, response) => {
    beginStream(response);
    sendEvent(response, text('Hel'));
    open.push(response);
  });
  const streams = Array.from({ length: STREAMS }, () => streamChat(app, CALL, { key: secret }));
  await eventually(
    () => Promise.resolve(open.length),
    (count) => count === STREAMS,
  );
  const replica = await app.startReplica();
  await passHeldTime(app, record.id);
  await replica.application.get(SpendLedger).sweepExpired();
  upstream.answerWith(answerChat);
  // The other replica has the money now, and holds all of it.
  const held = await replica.application.get(SpendLimiter).reserve(
    { key: record, guardrails: null },
    {
      quick: () => ({ cost: LIMIT, costWithByok: LIMIT }),
      exact: () => Promise.resolve({ cost: LIMIT, costWithByok: LIMIT }),
    },
  );
  await app.application.get(SpendLimiter).heartbeat();
  const ended = await Promise.all(streams);
  for (const { events } of ended) {
    const error = events.map((event) => (event === '[DONE]' ? null : event.error)).find(Boolean);
    expect(error).toMatchObject({ code: 503, message: expect.stringContaining('has lapsed') as unknown });
  }
  const recorded = await chatsOf(app, record.id);
  expect(recorded.map(({ cost }) => cost)).toEqual(Array(STREAMS).fill(0n));
  for (const { chat, upstreamCost } of recorded) {
    expect(upstreamCost).toBeGreaterThan(0n);
    expect(chat?.overrun).toBe(upstreamCost);
  }
  held.close();
  await replica.close();
});
