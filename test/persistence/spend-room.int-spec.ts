// Grants of the database: the tightest of several limits, each in its own window, at the moment of the decision.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { formatUsd, parseUsd } from '../../src/domain/spend/money.js';
import type { SpendLimitWindow } from '../../src/domain/spend/spend-limit.js';
import { SpendLease } from '../../src/domain/spend/spend-lease.js';
import type { SpendOwner, SpendOwnerKind } from '../../src/domain/spend/spend-lease.js';
import { SpendLedger } from '../../src/persistence/spend/spend-ledger.js';
import { createTestApp } from '../support/app/app.js';
import type { TestAccount, TestApp } from '../support/app/app.js';
import { untilLockWait } from '../support/database/waiting-statements.js';

const LIMIT = parseUsd('1000');
const COUNTERS = {
  key: { table: 'key_spend', column: 'api_key_id' },
  workspace: { table: 'workspace_spend', column: 'workspace_id' },
  account: { table: 'account_spend', column: 'account_id' },
  guardrail: { table: 'guardrail_spend', column: 'id' },
} as const;

let app: TestApp;
let ledger: SpendLedger;
let account: TestAccount;
beforeAll(async () => {
  app = await createTestApp();
  ledger = app.application.get(SpendLedger);
});
afterAll(() => app.close());
beforeEach(async () => {
  account = await app.createAccount();
});

function ownerOf(kind: SpendOwnerKind): SpendOwner {
  const { accountId, workspaceId, key } = account;
  if (kind === 'key') return { kind, id: key.id, workspaceId };
  if (kind === 'workspace') return { kind, id: workspaceId, workspaceId };
  return { kind, id: accountId, workspaceId: accountId };
}

const setCounter = ({ kind, id }: SpendOwner, changes: string) =>
  app.sql(`UPDATE ${COUNTERS[kind].table} SET ${changes} WHERE ${COUNTERS[kind].column} = $1`, [id]);

const acquire = (lease: SpendLease, amount: bigint, hasBudget = false) =>
  ledger.acquire(lease, { needed: amount, wanted: amount, hasBudget });

/** Sets the limits of an owner in the database. */
async function setLimits({ kind, id }: SpendOwner, limits: readonly SpendLimitWindow[]): Promise<void> {
  const [{ window, limit, includeByok } = limitOf('total', '0')] = limits;
  switch (kind) {
    case 'key':
      await app.sql(
        `UPDATE api_keys SET limit_amount = $2, limit_reset = nullif($3, 'total'), include_byok_in_limit = $4 WHERE id = $1`,
        [id, formatUsd(limit), window, includeByok],
      );
      break;
    case 'workspace':
      await app.sql('DELETE FROM workspace_budgets WHERE workspace_id = $1', [id]);
      await app.sql('UPDATE workspaces SET include_byok_in_budgets = $2 WHERE id = $1', [id, includeByok]);
      for (const budget of limits)
        await app.sql(
          `INSERT INTO workspace_budgets (workspace_id, "interval", limit_amount)
           VALUES ($1, CASE $2 WHEN 'total' THEN 'lifetime' ELSE $2 END, $3)`,
          [id, budget.window, formatUsd(budget.limit)],
        );
      break;
    case 'account':
      await app.sql('UPDATE accounts SET credits = $2 WHERE id = $1', [id, formatUsd(limit)]);
  }
}

/** The unspent amount; nothing is granted. */
async function unspentOf(owner: SpendOwner, ...limits: readonly SpendLimitWindow[]): Promise<bigint> {
  await setLimits(owner, limits);
  const { granted, unspent } = await acquire(new SpendLease(owner), LIMIT * 2n);
  expect(granted).toBe(0n);
  return unspent;
}

const limitOf = (window: SpendLimitWindow['window'], limit: string): SpendLimitWindow => ({
  window,
  limit: parseUsd(limit),
  includeByok: false,
});

describe('several limits of one owner', () => {
  const [daily, monthly] = [limitOf('daily', '1'), limitOf('monthly', '10')];

  it.each([
    ['the narrower one first', [daily, monthly]],
    ['the wider one first', [monthly, daily]],
  ])('grant no more than the tightest permits, %s', async (_name, limits) => {
    const owner = ownerOf('workspace');
    const lease = new SpendLease(owner);
    await setLimits(owner, limits);
    const one = parseUsd('1');
    expect(await acquire(lease, one + 1n)).toMatchObject({ granted: 0n, available: one, unspent: one });
    expect(await acquire(lease, one)).toMatchObject({ granted: one, unspent: one });
  });

  it('count the spend of their own windows: a wider one can be the tightest', async () => {
    const owner = ownerOf('workspace');
    await setCounter(
      owner,
      `last_day = '2026-11-17', total = 9.75, daily = 0.5, weekly = 0.5, monthly = 9.75`,
    );
    app.clock.set('2026-11-18T12:00:00Z');
    expect(await unspentOf(owner, daily, monthly)).toBe(parseUsd('0.25'));
  });
});

describe.each(['key', 'workspace', 'account'] as const)('the windows of the counter of one %s', (kind) => {
  it.each([
    ['the same day', '2026-11-18', '2026-11-18', { daily: true, weekly: true, monthly: true }],
    ['the next day', '2026-11-18', '2026-11-19', { daily: false, weekly: true, monthly: true }],
    ['the next week', '2026-11-22', '2026-11-23', { daily: false, weekly: false, monthly: true }],
    [
      'the next month in the same week',
      '2026-11-30',
      '2026-12-01',
      { daily: false, weekly: true, monthly: false },
    ],
    ['the next month', '2026-11-18', '2026-12-18', { daily: false, weekly: false, monthly: false }],
    [
      'the same day a year later',
      '2025-11-18',
      '2026-11-18',
      { daily: false, weekly: false, monthly: false },
    ],
    // The clock of another process is ahead: its spend still counts.
    ['the day before', '2026-11-19', '2026-11-18', { daily: true, weekly: true, monthly: true }],
    ['the week before', '2026-11-23', '2026-11-22', { daily: true, weekly: true, monthly: true }],
    ['the month before', '2026-12-01', '2026-11-30', { daily: true, weekly: true, monthly: true }],
  ])('count on %s when they still last', async (_name, lastDay, today, lasts) => {
    const owner = ownerOf(kind);
    await setCounter(
      owner,
      `last_day = '${lastDay}', daily = 1, weekly = 2, monthly = 4, total = 8,
        byok_daily = 16, byok_weekly = 32, byok_monthly = 64, byok_total = 128`,
    );
    app.clock.set(`${today}T12:00:00Z`);
    const spent = async (window: SpendLimitWindow['window'], includeByok: boolean) =>
      LIMIT - (await unspentOf(owner, { window, limit: LIMIT, includeByok }));
    // Credits have no windows, and own provider keys cost none of them.
    if (kind === 'account') {
      expect(await spent('total', false)).toBe(parseUsd('8'));
      return;
    }
    for (const [window, amount, withByok] of [
      ['daily', '1', '17'],
      ['weekly', '2', '34'],
      ['monthly', '4', '68'],
      ['total', '8', '136'],
    ] as const) {
      const isCounted = window === 'total' || lasts[window];
      expect([window, await spent(window, false), await spent(window, true)]).toEqual([
        window,
        isCounted ? parseUsd(amount) : 0n,
        isCounted ? parseUsd(withByok) : 0n,
      ]);
    }
  });
});

describe('limits', () => {
  it.each(['key', 'workspace', 'account'] as const)(
    'of one %s are read from the database by the grant, whatever the process knows',
    async (kind) => {
      const owner = ownerOf(kind);
      const lease = new SpendLease(owner);
      await setLimits(owner, [limitOf('total', '10')]);
      const limits = [limitOf('total', '2')];
      const client = new pg.Client({ connectionString: app.databaseUrl });
      await client.connect();
      try {
        await client.query('BEGIN');
        await client.query(
          `UPDATE ${COUNTERS[kind].table} SET total = 1 WHERE ${COUNTERS[kind].column} = $1`,
          [owner.id],
        );
        const asked = acquire(lease, parseUsd('4'));
        await untilLockWait(app);
        // Committed while the statement waits for the counter.
        await setLimits(owner, limits);
        await client.query('COMMIT');
        expect(await asked).toEqual({
          granted: 0n,
          available: parseUsd('1'),
          unspent: parseUsd('1'),
          limits,
        });
      } finally {
        await client.end();
      }
    },
  );

  it('grant the requested amount after their removal, which counts as reserved', async () => {
    const owner = ownerOf('key');
    const { granted, limits } = await acquire(new SpendLease(owner), parseUsd('4'));
    expect([granted, limits]).toEqual([parseUsd('4'), []]);
    const rows = await app.sql('SELECT reserved::float8 FROM key_spend WHERE api_key_id = $1', [owner.id]);
    expect(rows).toEqual([{ reserved: 4 }]);
  });
});

describe('a change while a lease is requested', () => {
  /** Changes on the test's own connection before the grant, held until a statement waits for them. */
  async function between<Result>(
    work: (client: pg.Client) => Promise<unknown>,
    ask: () => Promise<Result>,
    look: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Result> {
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await work(client);
      const answer = ask();
      await untilLockWait(app);
      await look();
      await client.query('COMMIT');
      return await answer;
    } finally {
      await client.end();
    }
  }

  it.each(['key', 'workspace', 'account'] as const)(
    'of the spend or reservations is respected for the counter of one %s',
    async (kind) => {
      const owner = ownerOf(kind);
      const { table, column } = COUNTERS[kind];
      const lease = new SpendLease(owner);
      const change = (changes: string) => (client: pg.Client) =>
        client.query(`UPDATE ${table} SET ${changes} WHERE ${column} = $1`, [owner.id]);
      await setLimits(owner, [limitOf('total', '10')]);
      const ask = () => acquire(lease, parseUsd('4'));
      expect(await between(change('total = 7'), ask)).toMatchObject({
        granted: 0n,
        unspent: parseUsd('3'),
      });
      expect(await between(change('total = 0, reserved = 7'), ask)).toMatchObject({
        granted: 0n,
        available: parseUsd('3'),
        unspent: parseUsd('10'),
      });
      expect(await app.sql('SELECT FROM spend_leases WHERE holder_id = $1', [owner.id])).toEqual([]);
    },
  );

  it('invalidates a lease that it sweeps, and leaves the counter unlocked', async () => {
    const owner = ownerOf('key');
    const lease = new SpendLease(owner);
    await setLimits(owner, [limitOf('total', '10')]);
    await acquire(lease, 1n);
    const granted = await between(
      (client) => client.query('DELETE FROM spend_leases WHERE process_id = $1', [lease.id]),
      () => acquire(lease, 1n, true),
      () => app.sql('SELECT FROM key_spend WHERE api_key_id = $1 FOR UPDATE NOWAIT', [owner.id]),
    );
    expect(granted).toMatchObject({ granted: 0n });
    expect(lease.isValid(performance.now())).toBe(false);
    expect(await app.sql('SELECT FROM spend_leases WHERE holder_id = $1', [owner.id])).toEqual([]);
  });
});
