// A process that is killed in the middle of streams: its reservations count as spent until another takes its place
// (docs/contract.md#chat-spend).
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
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
import { eventually } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';

// The reservation of a call without a limit of its output: the key has room for three.
const RESERVATION = parseUsd('0.0525384');
const LIMIT = RESERVATION * 3n;

let setup: ChatSetup;
let killed: ServiceProcess;
beforeAll(async () => {
  setup = await startChat();
  killed = await startService();
});
afterAll(() => setup.close());

function startService(): Promise<ServiceProcess> {
  return startServiceProcess({
    DATABASE_URL: setup.app.databaseUrl,
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${setup.upstream.origin}/v1`,
    REPLICA_NAME: 'replica-1',
  });
}

it('blocks the limit until another takes its place, and never lets it be exceeded', async () => {
  const { app, upstream } = setup;
  const { secret, record } = await app.createKey({ limit: LIMIT });
  const money = async () => {
    const [row] = await app.sql<{ total: string; reserved: string }>(
      'SELECT total, reserved FROM key_spend WHERE api_key_id = $1',
      [record.id],
    );
    return { spent: parseUsd(row?.total ?? ''), reserved: parseUsd(row?.reserved ?? '') };
  };
  let streams = 0;
  upstream.answerWith((_request, response) => {
    streams++;
    beginStream(response);
    sendEvent(response, text('Hel'));
  });
  const cut = Array.from({ length: 3 }, () =>
    streamChat({ ...app, baseUrl: killed.baseUrl }, {}, { key: secret }).catch(() => null),
  );
  await eventually(
    () => Promise.resolve(streams),
    (count) => count === 3,
  );
  await killed.kill();
  await Promise.all(cut);
  upstream.answerWith(answerChat);
  // No call fits beside them.
  expect(await money()).toEqual({ spent: 0n, reserved: LIMIT });

  const successor = await startService();
  const later = await Promise.all(Array.from({ length: 3 }, () => streamChat(app, {}, { key: secret })));
  expect(later.map(({ status }) => status)).toEqual([200, 200, 200]);
  const recorded = await chatsOf(app, record.id);
  expect(recorded).toHaveLength(3);
  const { spent, reserved } = await money();
  expect(spent).toBe(recorded.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n));
  expect(spent + reserved).toBeLessThanOrEqual(LIMIT);
  await successor.kill();
});
