// Leases that the database has swept while their process holds them, after a pause of the machine or a change of the
// database's clock. They grant nothing more, and the parts that calls hold are not taken from others.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../src/config/metrics.js';
import { formatUsd, parseUsd, usdToNumber } from '../../../src/domain/spend/money.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import { SpendLedger } from '../../../src/persistence/spend/spend-ledger.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import type { Reservation } from '../../../src/spend/spend-limiter.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { passHeldTime } from '../../support/database/leases.js';
import { createGeneration } from '../../support/generations/generation.js';

const LIMIT = parseUsd('10');

let app: TestApp;
let limiter: SpendLimiter;
let key: TestKey;
beforeAll(async () => {
  app = await createTestApp();
  limiter = app.application.get(SpendLimiter);
  // From here on it sends heartbeats on the test's command.
  limiter.onModuleDestroy();
});
afterAll(() => app.close());
beforeEach(async () => {
  key = await app.createKey({ limit: LIMIT });
});

function reserve(cost: bigint): Promise<Reservation> {
  const bound = { cost, costWithByok: cost };
  return limiter.reserve(
    { key: key.record, guardrails: null },
    { quick: () => bound, exact: () => Promise.resolve(bound) },
  );
}

const leaseOf = ({ releases: [release] }: Reservation) => release!.lease;

async function settle(reservation: Reservation, cost: bigint): Promise<void> {
  const generation = createGeneration(key.record, { cost });
  await app.application.get(GenerationLog).append(generation, reservation.releases);
  reservation.close();
}

/** Sweeps all leases of the key. */
async function sweep(): Promise<void> {
  await passHeldTime(app, key.record.id);
  await app.application.get(SpendLedger).sweepExpired();
}

/** The reserved amount of the key, and that of its leases. */
async function state(): Promise<{ reserved: bigint; leases: Record<string, bigint> }> {
  const [counter] = await app.sql<{ reserved: string }>(
    'SELECT reserved FROM key_spend WHERE api_key_id = $1',
    [key.record.id],
  );
  const rows = await app.sql<{ id: string; amount: string }>(
    'SELECT process_id AS id, amount FROM spend_leases WHERE holder_id = $1 AND amount > 0',
    [key.record.id],
  );
  return {
    reserved: parseUsd(counter!.reserved),
    leases: Object.fromEntries(rows.map(({ id, amount }) => [id, parseUsd(amount)])),
  };
}

it('grants nothing of the available part after a failed renewal', async () => {
  // Far from the limit: much remains beside the part that the call holds.
  const first = await reserve(1n);
  await sweep();
  await app.sql('UPDATE key_spend SET total = $2 WHERE api_key_id = $1', [key.record.id, formatUsd(LIMIT)]);
  await limiter.heartbeat();
  await expect(reserve(1n)).rejects.toMatchObject({ code: 'key_limit_exceeded' });
  first.close();
});

it('does not take the parts that calls hold from later calls', async () => {
  const early = await reserve(LIMIT / 2n);
  await sweep();
  const late = await reserve(LIMIT);
  expect(leaseOf(late)).not.toBe(leaseOf(early));
  await settle(early, 1n);
  expect(await state()).toEqual({ reserved: LIMIT, leases: { [leaseOf(late).id]: LIMIT } });
  await settle(late, 1n);
  expect(await state()).toEqual({ reserved: 0n, leases: {} });
});

it('serves a waiting call from another lease', async () => {
  const early = await reserve(LIMIT);
  const waiting = reserve(LIMIT);
  await sweep();
  const late = await waiting;
  expect(leaseOf(late)).not.toBe(leaseOf(early));
  early.close();
  await limiter.heartbeat();
  expect(await state()).toEqual({ reserved: LIMIT, leases: { [leaseOf(late).id]: LIMIT } });
  await settle(late, 1n);
});

describe('a call whose lease has lapsed', () => {
  const spent = async () => {
    const [row] = await app.sql<{ total: string }>('SELECT total FROM key_spend WHERE api_key_id = $1', [
      key.record.id,
    ]);
    return parseUsd(row!.total);
  };
  const costs = async () =>
    (
      await app.sql<{ cost: string }>(
        'SELECT cost FROM generations WHERE api_key_id = $1 ORDER BY log_transaction',
        [key.record.id],
      )
    ).map(({ cost }) => parseUsd(cost));

  it('is charged what the limit has left, and the rest is reported as an overrun', async () => {
    const overrun = async () => {
      const metrics = await app.application.get(Metrics).registry.metrics();
      return Number(/^signalbox_spend_lapsed_usd_total (\S+)$/m.exec(metrics)?.[1]);
    };
    const before = await overrun();
    const early = await reserve(LIMIT);
    await sweep();
    const late = await reserve(LIMIT - 3n);
    await settle(late, LIMIT - 3n);
    await settle(early, LIMIT);
    expect(await costs()).toEqual([LIMIT - 3n, 3n]);
    expect(await spent()).toBe(LIMIT);
    expect((await state()).reserved).toBe(0n);
    expect((await overrun()) - before).toBeCloseTo(usdToNumber(LIMIT - 3n), 9);
  });

  it('is charged in full where other calls have left enough', async () => {
    const early = await reserve(LIMIT);
    await sweep();
    await settle(early, 7n);
    expect([await costs(), await spent()]).toEqual([[7n], 7n]);
    expect((await state()).reserved).toBe(0n);
  });

  it('takes nothing that another call has reserved', async () => {
    const early = await reserve(LIMIT);
    await sweep();
    const late = await reserve(LIMIT);
    await settle(early, 7n);
    await settle(late, LIMIT);
    expect([await costs(), await spent()]).toEqual([[0n, LIMIT], LIMIT]);
  });

  it('does not change the charges of calls that are settled with it', async () => {
    const early = await reserve(LIMIT);
    await sweep();
    const rich = await app.createKey({ limit: LIMIT });
    const bound = { cost: 5n, costWithByok: 5n };
    const beside = await limiter.reserve(
      { key: rich.record, guardrails: null },
      {
        quick: () => bound,
        exact: () => Promise.resolve(bound),
      },
    );
    const log = app.application.get(GenerationLog);
    await Promise.all([
      settle(early, LIMIT + 1n),
      log.append(createGeneration(rich.record, { cost: 5n }), beside.releases),
    ]);
    beside.close();
    expect([await costs(), await spent()]).toEqual([[LIMIT], LIMIT]);
    const others = await app.sql<{ total: string }>('SELECT total FROM key_spend WHERE api_key_id = $1', [
      rich.record.id,
    ]);
    expect(parseUsd(others[0]!.total)).toBe(5n);
  });

  it.each([true, false])(
    'through own provider keys counts within a limit that counts them: %s',
    async (included) => {
      key = await app.createKey({ limit: LIMIT, includeByokInLimit: included });
      const early = await reserve(LIMIT);
      await sweep();
      const late = await reserve(LIMIT - 3n);
      await settle(late, LIMIT - 3n);
      const generation = createGeneration(key.record, { cost: 1n, upstreamCost: LIMIT, isByok: true });
      await app.application.get(GenerationLog).append(generation, early.releases);
      early.close();
      const [row] = await app.sql<{ total: string; byok: string }>(
        'SELECT total, byok_total AS byok FROM key_spend WHERE api_key_id = $1',
        [key.record.id],
      );
      expect([row?.total, row?.byok].map((amount) => parseUsd(amount!))).toEqual(
        included ? [LIMIT - 2n, 2n] : [LIMIT - 2n, LIMIT],
      );
    },
  );
});
