// Rows that the rollup of activity and its reader read: a step reads its own rows, a query reads sums only.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { ActivityRollupRepository } from '../../src/persistence/activity/activity-rollup.repository.js';
import { cursorValues } from '../../src/persistence/rollups/rollup.repository.js';
import { ACTIVITY_ROLLUP, sumUp } from '../../src/persistence/activity/activity-statements.js';
import { STEP_SETTINGS } from '../../src/persistence/rollups/rollup-statements.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { fillLog, planOf, scansOf } from '../support/database/plans.js';
import type { Scan } from '../support/database/plans.js';
import { withIdleRollup } from '../support/database/rollups.js';

const FROM = new Date('2026-10-19T00:00:00.000Z');
const ROWS = 20_000;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp({ override: withIdleRollup });
  const second = await app.createKey();
  await fillLog(app, [app.key, second.record], { rows: ROWS, from: FROM, days: 30 });
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

const rollup = (): ActivityRollupRepository => app.application.get(ActivityRollupRepository);
const inLog = (scans: readonly Scan[]): Scan[] =>
  scans.filter(({ table }) => table.startsWith('generations_'));
const sumOf = (scans: readonly Scan[], part: 'rows' | 'pages'): number =>
  scans.reduce((sum, scan) => sum + scan[part], 0);

async function readThirtyDays(
  ownKeys?: readonly [workspaceIds: string[], apiKeyIds: string[]],
): Promise<{ scans: Scan[]; rows: number; pages: number }> {
  const cursor = cursorValues(await rollup().beginPass(3_600));
  const values = [[app.workspaceId], '2026-10-19', '2026-11-18', null, 10_001, ...cursor, ...(ownKeys ?? [])];
  const text = sumUp({ byWorkspace: false, hasOwnKeys: ownKeys !== undefined });
  const scans = inLog(scansOf(await planOf(client, text, values)));
  return { scans, rows: sumOf(scans, 'rows'), pages: sumOf(scans, 'pages') };
}

it('reads the rows of a step and not the rest, also within a workspace', async () => {
  // Transactions of other databases of the server may hold a pass back for a while.
  await eventually(
    async () => {
      const { summedBefore, passUntil } = await rollup().beginPass(0);
      const [newest] = await app.sql<{ cursor: string }>(
        'SELECT max(log_transaction) AS cursor FROM generations',
      );
      if (summedBefore !== passUntil && BigInt(passUntil) <= BigInt(newest!.cursor))
        await app.application.get(ActivityRollup).catchUp(0);
      return summedBefore !== passUntil && BigInt(passUntil) > BigInt(newest!.cursor);
    },
    (isOpen) => isOpen,
  );
  await client.query('BEGIN');
  for (const [name, value] of Object.entries(STEP_SETTINGS))
    await client.query('SELECT set_config($1, $2, true)', [name, value]);
  for (let count = 0; count < 4; count++) {
    const { rows } = await client.query<Parameters<typeof cursorValues>[0]>(
      `SELECT summed_before AS "summedBefore", pass_until AS "passUntil", pass_workspace_id AS "workspaceId",
         pass_transaction AS transaction, pass_ordinal AS ordinal FROM activity_rollup`,
    );
    const values = [...cursorValues(rows[0]!), FROM, 500, 200];
    const scans = inLog(scansOf(await planOf(client, ACTIVITY_ROLLUP.takeStep, values)));
    expect(sumOf(scans, 'rows')).toBeGreaterThanOrEqual(200);
    expect(sumOf(scans, 'rows')).toBeLessThan(250);
  }
  await client.query('COMMIT');
});

it('reads no rows of thirty days that are summed up', async () => {
  // Makes the plans distinguishable.
  expect((await readThirtyDays()).rows).toBeGreaterThanOrEqual(ROWS / 2);
  await eventually(
    async () => {
      await app.application.get(ActivityRollup).catchUp(0);
      return app.sql<{ requests: string }>('SELECT sum(requests) AS requests FROM activity_days');
    },
    ([row]) => Number(row?.requests) === ROWS,
  );
  const { scans, rows, pages } = await readThirtyDays();
  // One index look-up for each day.
  expect(scans).toHaveLength(30);
  expect(rows).toBe(0);
  expect(pages).toBeLessThanOrEqual(60);
});

it('reads no rows of thirty days that are summed up for whole workspaces and own keys of others', async () => {
  const { key } = await app.createAccount();
  const { scans, rows } = await readThirtyDays([[key.workspaceId], [key.id]]);
  expect(scans).toHaveLength(60);
  expect(rows).toBe(0);
});
