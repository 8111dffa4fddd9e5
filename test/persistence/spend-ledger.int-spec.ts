// Leases and reservations on a real PostgreSQL: a release never returns more than is reserved.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { parseUsd } from '../../src/domain/spend/money.js';
import { SpendRelease } from '../../src/domain/spend/spend-limit.js';
import { SpendLease } from '../../src/domain/spend/spend-lease.js';
import type { SpendOwner } from '../../src/domain/spend/spend-lease.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { SpendLedger } from '../../src/persistence/spend/spend-ledger.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';

const LIMIT = parseUsd('10');

let app: TestApp;
let ledger: SpendLedger;
let key: ApiKey;
let owner: SpendOwner;
beforeAll(async () => {
  app = await createTestApp();
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

/** Another process does this when this one has not renewed it. */
async function sweep(lease: SpendLease): Promise<void> {
  await app.sql(`UPDATE spend_leases SET expires_at = now() - interval '1 second' WHERE process_id = $1`, [
    lease.id,
  ]);
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
    await ledger.renew([kept, swept]);
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
    await app.sql('UPDATE spend_leases SET amount = 0.5 WHERE process_id = $1', [leases[1].id]);
    const cost = parseUsd('0.75');
    await app.application
      .get(GenerationLog)
      .append(createGeneration(key, { cost }), [release(leases[0], '1.5'), release(leases[1], '1')]);
    expect(await state()).toEqual({ reserved: parseUsd('1'), total: cost, held: [0n, parseUsd('0.5')] });
  });
});

describe('sweeping', () => {
  it('releases all amounts of expired leases, several of one counter as well', async () => {
    const [first, second] = [await take('3'), await take('2'), await take('1')];
    await app.sql(
      `UPDATE spend_leases SET expires_at = now() - interval '1 second' WHERE process_id = ANY($1)`,
      [[first.id, second.id]],
    );
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
