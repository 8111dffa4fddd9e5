// Leases and reservations on a real PostgreSQL: a release never returns more than is reserved.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppConfig } from '../../src/config/app-config.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { parseUsd } from '../../src/domain/spend/money.js';
import { SpendRelease } from '../../src/domain/spend/spend-limit.js';
import { LAST_COMMIT_MS, LEASE_SECONDS, SpendLease } from '../../src/domain/spend/spend-lease.js';
import type { SpendOwner } from '../../src/domain/spend/spend-lease.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { SpendLedger } from '../../src/persistence/spend/spend-ledger.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';

const LIMIT = parseUsd('10');
const PLACE = 'replica-1';
// A process that has ended.
const GONE = 1;

let app: TestApp;
let ledger: SpendLedger;
let key: ApiKey;
let owner: SpendOwner;
beforeAll(async () => {
  app = await createTestApp({ environment: { REPLICA_NAME: PLACE } });
  ledger = app.application.get(SpendLedger);
});
afterAll(() => app.close());
beforeEach(async () => {
  key = (await app.createKey({ limit: LIMIT, includeByokInLimit: true })).record;
  owner = { kind: 'key', id: key.id, workspaceId: key.workspaceId };
});

/** A lease of so many USD. */
async function take(amount: string): Promise<SpendLease> {
  const lease = new SpendLease(owner);
  await add(lease, amount, false);
  return lease;
}

const add = (lease: SpendLease, amount: string, hasBudget: boolean) =>
  ledger.acquire(lease, { needed: parseUsd(amount), wanted: parseUsd(amount), hasBudget });

/** They were not renewed for longer than calls may hold them. */
async function expire(...leases: readonly SpendLease[]): Promise<void> {
  await app.sql(
    `UPDATE spend_leases SET expires_at = now() - interval '1 second', held_until = '-infinity'
     WHERE process_id = ANY($1)`,
    [leases.map(({ id }) => id)],
  );
}

/** Another process does this then. */
async function sweep(lease: SpendLease): Promise<void> {
  await expire(lease);
  await ledger.sweepExpired();
}

/** The reserved and spent amount of the key, and the amounts of its leases. */
async function state(): Promise<{ reserved: bigint; total: bigint; held: bigint[] }> {
  const [counter] = await app.sql<{ reserved: string; total: string }>(
    'SELECT reserved, total FROM key_spend WHERE api_key_id = $1',
    [key.id],
  );
  const leases = await app.sql<{ amount: string }>(
    'SELECT amount FROM spend_leases WHERE holder_id = $1 ORDER BY amount',
    [key.id],
  );
  const { reserved, total } = counter!;
  return {
    reserved: parseUsd(reserved),
    total: parseUsd(total),
    held: leases.map(({ amount }) => parseUsd(amount)),
  };
}

const release = (lease: SpendLease, amount: string): SpendRelease =>
  new SpendRelease(lease, parseUsd(amount));

describe('releasing', () => {
  it('subtracts as much from the leases as from their counter', async () => {
    const leases = [await take('3'), await take('1')] as const;
    await ledger.release([release(leases[0], '1'), release(leases[1], '0.25'), release(leases[0], '0.5')]);
    expect(await state()).toEqual({
      reserved: parseUsd('2.25'),
      total: 0n,
      held: [parseUsd('0.75'), parseUsd('1.5')],
    });
  });

  it('never subtracts more than a lease holds', async () => {
    const leases = [await take('3'), await take('1')] as const;
    await ledger.release([release(leases[1], '2')]);
    expect(await state()).toEqual({ reserved: parseUsd('3'), total: 0n, held: [0n, parseUsd('3')] });
  });

  it('subtracts nothing from a swept lease', async () => {
    const [swept] = [await take('3'), await take('1')];
    await app.sql('DELETE FROM spend_leases WHERE process_id = $1', [swept.id]);
    await ledger.release([release(swept, '3')]);
    expect(await state()).toEqual({ reserved: parseUsd('4'), total: 0n, held: [parseUsd('1')] });
  });
});

describe('a swept lease', () => {
  it('becomes invalid at its renewal, without an effect on others', async () => {
    const [kept, swept, empty] = [await take('1'), await take('3'), await take('2')];
    await sweep(swept);
    await ledger.release([release(empty, '2')]);
    await app.sql(
      `UPDATE spend_leases SET expires_at = now() + interval '10 seconds' WHERE process_id = $1`,
      [kept.id],
    );
    await ledger.renew([kept, swept], []);
    const now = performance.now();
    expect([kept, swept, empty].map((lease) => lease.isValid(now))).toEqual([true, false, true]);
    const rows = await app.sql(
      `SELECT process_id FROM spend_leases WHERE holder_id = $1 AND amount > 0
         AND expires_at > now() + interval '20 seconds'`,
      [key.id],
    );
    expect(rows).toEqual([{ process_id: kept.id }]);
  });

  it('is invalid and not created again while a part of it is held', async () => {
    const swept = await take('3');
    await sweep(swept);
    expect(await add(swept, '1', true)).toMatchObject({ granted: 0n, unspent: LIMIT });
    expect(swept.isValid(performance.now())).toBe(false);
    expect(await state()).toEqual({ reserved: 0n, total: 0n, held: [] });
  });

  it('is created again when no part of it is held', async () => {
    const empty = await take('3');
    await ledger.release([release(empty, '3')]);
    await sweep(empty);
    expect(await add(empty, '1', false)).toMatchObject({ granted: parseUsd('1'), unspent: LIMIT });
    expect(empty.isValid(performance.now())).toBe(true);
    expect(await state()).toEqual({ reserved: parseUsd('1'), total: 0n, held: [parseUsd('1')] });
  });
});

describe('settling', () => {
  it('counts the whole cost, and releases the rest of a reservation', async () => {
    const leases = [await take('2'), await take('1')] as const;
    const cost = parseUsd('0.75');
    await app.application
      .get(GenerationLog)
      .append(createGeneration(key, { cost }), [release(leases[0], '1.5'), release(leases[1], '1')]);
    expect(await state()).toEqual({ reserved: parseUsd('0.5'), total: cost, held: [0n, parseUsd('0.5')] });
  });
});

describe('sweeping', () => {
  it('releases all amounts of expired leases, several of one counter as well', async () => {
    const [first, second] = [await take('3'), await take('2'), await take('1')];
    await expire(first, second);
    await ledger.sweepExpired();
    expect(await state()).toEqual({ reserved: parseUsd('1'), total: 0n, held: [parseUsd('1')] });
    await ledger.sweepExpired();
    expect((await state()).reserved).toBe(parseUsd('1'));
  });

  it('does not write a counter whose leases held nothing', async () => {
    const empty = await take('3');
    await ledger.release([release(empty, '3')]);
    const version = () => app.sql('SELECT xmin, ctid FROM key_spend WHERE api_key_id = $1', [key.id]);
    const before = await version();
    await sweep(empty);
    expect(await state()).toEqual({ reserved: 0n, total: 0n, held: [] });
    expect(await version()).toEqual(before);
  });
});

describe('a lease that its process does not renew', () => {
  /** Not renewed since; `by`: the session and the place of its process. */
  async function unrenewed(by: { session?: number; place?: string } = {}): Promise<SpendLease> {
    const lease = await take('3');
    await app.sql(
      `UPDATE spend_leases SET expires_at = now() - interval '1 second', session = coalesce($2, session),
         place = coalesce($3, place) WHERE process_id = $1`,
      [lease.id, by.session ?? null, by.place === undefined ? null : `${by.place}/0`],
    );
    return lease;
  }

  async function heldAfterSweep(): Promise<readonly bigint[]> {
    await ledger.sweepExpired();
    return (await state()).held;
  }

  it('stays while its calls may last, though the process has lost its connection', async () => {
    await unrenewed({ session: GONE, place: 'replica-2' });
    expect(await heldAfterSweep()).toEqual([parseUsd('3')]);
  });

  it('stays while its process is connected', async () => {
    await unrenewed();
    expect(await heldAfterSweep()).toEqual([parseUsd('3')]);
  });

  it('is released by the process that has taken the place of its own', async () => {
    await unrenewed({ session: GONE });
    expect(await heldAfterSweep()).toEqual([]);
    expect((await state()).reserved).toBe(0n);
  });

  it('is released at once when a process takes the place of its dead one, and by no other', async () => {
    const lease = await take('3');
    const [, others] = [await take('2'), await take('1')];
    const setSession = (of: SpendLease, place: string) =>
      app.sql('UPDATE spend_leases SET session = $2, place = $3 WHERE process_id = $1', [of.id, GONE, place]);
    await setSession(lease, `${PLACE}/0`);
    await setSession(others, 'replica-2/0');
    await ledger.sweepPredecessors();
    expect(await state()).toMatchObject({ reserved: parseUsd('3'), held: [parseUsd('1'), parseUsd('2')] });
  });

  it('is not released by the other worker of a replica', async () => {
    const lease = await unrenewed({ session: GONE });
    await app.sql('UPDATE spend_leases SET place = $2 WHERE process_id = $1', [lease.id, `${PLACE}/1`]);
    expect(await heldAfterSweep()).toEqual([parseUsd('3')]);
  });

  it('is released when no call can hold it any more', async () => {
    const lease = await unrenewed({ session: GONE, place: 'replica-2' });
    await app.sql(`UPDATE spend_leases SET held_until = now() - interval '1 second' WHERE process_id = $1`, [
      lease.id,
    ]);
    expect(await heldAfterSweep()).toEqual([]);
  });

  it('is held as long as the longest call may last, and its record may take', async () => {
    const lease = await take('3');
    const [row] = await app.sql<{ seconds: number }>(
      'SELECT extract(epoch FROM held_until - now())::float8 AS seconds FROM spend_leases WHERE process_id = $1',
      [lease.id],
    );
    const { chat } = app.application.get(AppConfig);
    const longest = (chat.deadline + LAST_COMMIT_MS) / 1_000;
    expect(row?.seconds).toBeGreaterThan(longest + LEASE_SECONDS);
    expect(row?.seconds).toBeLessThan(longest + 3 * LEASE_SECONDS);
  });

  it('lapses by itself once its process says that no call holds it', async () => {
    const lease = await take('3');
    await ledger.renew([], [lease]);
    const [row] = await app.sql<{ isHeld: boolean; seconds: number }>(
      `SELECT held_until > now() AS "isHeld", extract(epoch FROM expires_at - now())::float8 AS seconds
       FROM spend_leases WHERE process_id = $1`,
      [lease.id],
    );
    // A statement of unknown outcome is over by then.
    expect(row).toEqual({ isHeld: false, seconds: expect.closeTo(LEASE_SECONDS, -1) });
  });
});
