// The upgrade to sums by model and provider: those that the migration makes of existing sums are those of the rollup.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  UsageRollupRepository,
  UserRollupRepository,
} from '../../src/persistence/activity/activity-rollup.repository.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { fillLog } from '../support/database/plans.js';
import { sumUp } from '../support/database/rollup-pass.js';
import { withIdleRollup } from '../support/database/rollups.js';

const MIGRATION = '20261130120000_model_sums';
const TABLES = [
  'usage_key_model_days',
  'usage_key_model_weeks',
  'usage_user_model_days',
  'usage_user_model_weeks',
];
const ROWS = 2_000;
const DAYS = 20;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ override: withIdleRollup });
  const other = await app.createAccount();
  const from = new Date(app.clock.now().getTime() - DAYS * 86_400_000);
  await fillLog(app, [app.key, other.key], { rows: ROWS, from, days: DAYS });
  await app.sql(
    `UPDATE generations SET provider = nullif(provider, repeat('provider', (log_ordinal % 3 = 0)::integer)),
       user_id = nullif(user_id, 'user-4'),
       status = CASE WHEN log_ordinal % 7 = 0 THEN 502 WHEN log_ordinal % 11 = 0 THEN 499 ELSE 200 END`,
  );
  for (const rollup of [UsageRollupRepository, UserRollupRepository])
    await sumUp(app, app.application.get(rollup), { workspaces: 500, rows: 500 });
});
afterAll(() => app.close());

const rowsOf = (table: string): Promise<{ row: object }[]> =>
  app.sql<{ row: object }>(
    `SELECT to_jsonb(${table}) AS row FROM ${table} ORDER BY to_jsonb(${table})::text`,
  );

it('makes them of the sums that exist', async () => {
  const ofRollup = await Promise.all(TABLES.map(rowsOf));
  expect(ofRollup.every((rows) => rows.length > 0)).toBe(true);
  await app.sql(`DROP TABLE ${TABLES.join(', ')}`);
  await app.sql('DROP FUNCTION skip_other_sums CASCADE');
  const script = await readFile(
    new URL(`../../prisma/migrations/${MIGRATION}/migration.sql`, import.meta.url),
    'utf8',
  );
  await app.sql(script);
  expect(await Promise.all(TABLES.map(rowsOf))).toEqual(ofRollup);
});
