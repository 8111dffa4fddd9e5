// Rebuilding single counters: each kind by itself, costs of own provider keys, and days without spend.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { parseUsd } from '../../src/domain/spend/money.js';
import type { PicoUsd } from '../../src/domain/spend/money.js';
import { Database } from '../../src/persistence/database/database.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { rebuildSpend } from '../../src/upkeep/spend-rebuild.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';
import { holdCounter, untilSoManyWait } from '../support/database/waiting-statements.js';

const NOTHING_WRONG = { key: 0, guardrail: 0, workspace: 0, account: 0 };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const rebuild = (timeout?: number) =>
  rebuildSpend(app.application.get(Database), {
    force: true,
    ...(timeout === undefined ? {} : { timeout }),
  });

async function append(key: ApiKey, day: string, cost: PicoUsd, byokCost: PicoUsd): Promise<void> {
  const createdAt = new Date(`${day}T12:00:00Z`);
  const generation = createGeneration(key, { createdAt, cost, upstreamCost: byokCost, isByok: true });
  await app.application.get(GenerationLog).append(generation);
}

/** The counters of a key. */
const countersOf = async ({ id, workspaceId, accountId }: ApiKey) => ({
  key: await app.sql('SELECT * FROM key_spend WHERE api_key_id = $1', [id]),
  workspace: await app.sql('SELECT * FROM workspace_spend WHERE workspace_id = $1', [workspaceId]),
  account: await app.sql('SELECT * FROM account_spend WHERE account_id = $1', [accountId]),
});

async function corrupt(
  kind: 'key' | 'workspace' | 'account',
  { id, workspaceId, accountId }: ApiKey,
  column: string,
) {
  const owner = {
    key: ['api_key_id', id],
    workspace: ['workspace_id', workspaceId],
    account: ['account_id', accountId],
  }[kind];
  await app.sql(`UPDATE ${kind}_spend SET ${column} = 99 WHERE ${owner[0]} = $1`, [owner[1]]);
}

describe('costs of own provider keys', () => {
  it('are in every window of every counter as settlements left them', async () => {
    const { key } = await app.createAccount();
    for (const [day, cost, byokCost] of [
      ['2026-10-01', 1n, 2n],
      ['2026-11-02', 4n, 8n],
      ['2026-11-16', 16n, 32n],
      ['2026-11-17', 64n, 0n],
      // The newest days: one of own keys only, and one without spend, which ends no window.
      ['2026-11-18', 0n, 128n],
      ['2026-12-24', 0n, 0n],
    ] as const)
      await append(key, day, cost, byokCost);
    const settled = await countersOf(key);
    expect(await rebuild()).toEqual(NOTHING_WRONG);
    for (const kind of ['key', 'workspace', 'account'] as const) {
      for (const column of ['byok_total', 'byok_daily', 'byok_weekly', 'byok_monthly']) {
        await corrupt(kind, key, column);
        expect(await rebuild()).toEqual({ ...NOTHING_WRONG, [kind]: 1 });
        expect(await countersOf(key)).toEqual(settled);
      }
    }
  });
});

describe('one wrong counter', () => {
  it.each(['key', 'workspace', 'account'] as const)(
    'of a %s includes costs of own keys that were settled during the sum',
    async (kind) => {
      const accounts = [await app.createAccount(), await app.createAccount()];
      // The first is locked first: while the rebuild waits for it, it holds no other.
      const [first, second] = accounts
        .map(({ key }) => key)
        .toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1));
      await append(second!, '2026-11-17', 100n, 7n);
      await corrupt(kind, second!, 'total');
      await corrupt('key', first!, 'total');
      const letGo = await holdCounter(app, first!);
      const rebuilt = rebuild();
      await untilSoManyWait(app, 1);
      await append(second!, '2026-11-18', 0n, 1000n);
      await letGo();
      expect(await rebuilt).toEqual({ ...NOTHING_WRONG, key: 1, [kind]: kind === 'key' ? 2 : 1 });
      for (const [counter] of Object.values(await countersOf(second!))) {
        const { total, byok_total: byokTotal, byok_daily: byokDaily } = counter as Record<string, string>;
        expect([total, byokTotal, byokDaily].map((sum) => parseUsd(sum ?? ''))).toEqual([100n, 1007n, 1000n]);
      }
      expect(await rebuild()).toEqual(NOTHING_WRONG);
    },
  );

  it('stays unchanged when another transaction holds it for long: the command gives up', async () => {
    const { key } = await app.createAccount();
    await corrupt('key', key, 'total');
    const corrupted = await countersOf(key);
    const letGo = await holdCounter(app, key);
    await expect(rebuild(50)).rejects.toThrow(
      'Another transaction holds a spend counter for longer than 0.05 s; nothing was changed',
    );
    await letGo();
    expect(await countersOf(key)).toEqual(corrupted);
    expect(await rebuild()).toEqual({ ...NOTHING_WRONG, key: 1 });
  });
});
