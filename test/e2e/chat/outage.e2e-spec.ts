// The database is away at the end of a chat: the answer waits for its record, and no record is lost
// (docs/contract.md#chat-spend).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestingModuleBuilder } from '@nestjs/testing';
import pg from 'pg';
import { ChatMetrics } from '../../../src/chat/chat-metrics.js';
import { COMMIT_MS, RecordCommits } from '../../../src/chat/run/record-commits.js';
import { systemScheduler } from '../../../src/concurrency/scheduler.js';
import type { Scheduler } from '../../../src/concurrency/scheduler.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import type { TestKey } from '../../support/app/app.js';
import {
  answerChat,
  chatOf,
  HELLO,
  postChat,
  startChat,
  streamChat,
  streamOf,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';
import { createTestDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';
import { startDatabaseProxy } from '../../support/database/database-proxy.js';
import type { DatabaseProxy } from '../../support/database/database-proxy.js';

// The cost of 10 prompt and 2 completion tokens.
const COST = 10n * 400_000n + 2n * 1_600_000n;

let database: TestDatabase;
let proxy: DatabaseProxy;
/** Bypasses the proxy. */
let direct: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
});
afterAll(async () => {
  await direct.end();
  await proxy.close();
  await database.drop();
});

interface OutageSetup extends ChatSetup {
  /** Calls `listener` when a commit of a record has failed and will be repeated. */
  readonly onFailedCommit: (listener: () => void) => void;
}

/** `commitMs`: milliseconds that answers wait for their record. */
async function startService(commitMs: number): Promise<OutageSetup> {
  let failed: (() => void) | null = null;
  const scheduler: Scheduler = {
    now: () => systemScheduler.now(),
    after: (milliseconds, run) => {
      // The pause before the repetition is shorter than the wait of the answer.
      if (milliseconds < commitMs) failed?.();
      return systemScheduler.after(milliseconds, run);
    },
  };
  const override = (testing: TestingModuleBuilder) =>
    void testing.overrideProvider(RecordCommits).useFactory({
      inject: [GenerationLog, ChatMetrics],
      factory: (log: GenerationLog, metrics: ChatMetrics) =>
        new RecordCommits(log, metrics, scheduler, commitMs),
    });
  const setup = await startChat({}, { databaseUrl: proxy.url, override });
  return { ...setup, onFailedCommit: (listener) => (failed = listener) };
}

/** Resolves when a commit of the call's record has failed. */
async function cutAtTheEnd({ upstream, onFailedCommit }: OutageSetup): Promise<void> {
  const answer = await new Promise<() => void>((resolve) =>
    upstream.answerWith((request, response) =>
      resolve(
        () => void (request.body['stream'] === true ? streamOf(...HELLO) : answerChat)(request, response),
      ),
    ),
  );
  const failed = new Promise<void>((resolve) => onFailedCommit(resolve));
  proxy.cut();
  answer();
  await failed;
}

async function moneyOf({ record }: TestKey): Promise<{ spent: bigint; leased: bigint; reserved: bigint }> {
  const { rows } = await direct.query<{ total: string; reserved: string; leased: string }>(
    `SELECT total, reserved, (SELECT coalesce(sum(amount), 0) FROM spend_leases WHERE holder_id = $1) AS leased
     FROM key_spend WHERE api_key_id = $1`,
    [record.id],
  );
  const [row] = rows;
  return {
    spent: parseUsd(row?.total ?? ''),
    reserved: parseUsd(row?.reserved ?? ''),
    leased: parseUsd(row?.leased ?? ''),
  };
}

async function recordsOf({ record }: TestKey): Promise<number> {
  const { rows } = await direct.query('SELECT 1 FROM generations WHERE api_key_id = $1', [record.id]);
  return rows.length;
}

describe('an outage that ends while the answer waits for its record', () => {
  let setup: OutageSetup;
  beforeAll(async () => {
    // A machine under load must not end the wait.
    setup = await startService(COMMIT_MS * 10);
  });
  afterEach(() => proxy.repair());
  afterAll(() => setup.close());

  it('delays the usage of a stream, and its record is there by then', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    const reading = streamChat(setup.app, {}, { key: key.secret });
    await cutAtTheEnd(setup);
    expect(await recordsOf(key)).toBe(0);
    proxy.repair();
    const { status, text, events } = await reading;
    expect({ status, text }).toEqual({ status: 200, text: 'Hello' });
    expect(events.at(-2)).toMatchObject({
      usage: { prompt_tokens: 10, completion_tokens: 2, cost: 0.0000072 },
    });
    expect(events.at(-1)).toBe('[DONE]');
    expect(await recordsOf(key)).toBe(1);
    const { spent, reserved, leased } = await moneyOf(key);
    expect({ spent, unleased: reserved - leased }).toEqual({ spent: COST, unleased: 0n });
  });

  it('delays an answer without a stream', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    const answering = postChat(setup.app, {}, { key: key.secret });
    await cutAtTheEnd(setup);
    proxy.repair();
    const response = await answering;
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ usage: { cost: 0.0000072 } });
    expect(await recordsOf(key)).toBe(1);
    expect((await moneyOf(key)).spent).toBe(COST);
  });
});

describe('an outage that is longer than the wait', () => {
  let setup: OutageSetup;
  beforeAll(async () => {
    setup = await startService(100);
  });
  afterEach(() => proxy.repair());
  afterAll(() => setup.close());

  it('ends a stream with an error instead of its usage, and the record and the charge follow', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    const reading = streamChat(setup.app, {}, { key: key.secret });
    await cutAtTheEnd(setup);
    const { status, text, events } = await reading;
    expect({ status, text }).toEqual({ status: 200, text: 'Hello' });
    expect(events.at(-2)).toMatchObject({ error: { code: 503 }, choices: [{ finish_reason: 'error' }] });
    expect(events.at(-1)).toBe('[DONE]');
    expect(events.filter((event) => event !== '[DONE]' && event.usage !== undefined)).toEqual([]);
    expect(await recordsOf(key)).toBe(0);
    // The reservation is held until the record is committed.
    const before = await moneyOf(key);
    expect(before.spent).toBe(0n);
    expect(before.reserved).toBeGreaterThan(COST);
    proxy.repair();
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({ status: 200, cost: COST });
    const { spent, reserved, leased } = await moneyOf(key);
    expect({ spent, unleased: reserved - leased }).toEqual({ spent: COST, unleased: 0n });
  });

  it('refuses an answer without a stream with 503, which costs nothing', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    const answering = postChat(setup.app, {}, { key: key.secret });
    await cutAtTheEnd(setup);
    const response = await answering;
    expect(response.status).toBe(503);
    proxy.repair();
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({ status: 503, cost: 0n });
    expect((await moneyOf(key)).spent).toBe(0n);
  });
});
