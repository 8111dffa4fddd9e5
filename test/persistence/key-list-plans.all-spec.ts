// Pages of keys in an order that has an index: they read the page, however many keys the workspace has.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { wholeAccount } from '../../src/domain/people/manager.js';
import { findKeys } from '../../src/persistence/keys/api-key-listing.js';
import type { ApiKeyListing } from '../../src/persistence/keys/api-key-listing.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';

const KEYS = 20_000;
const MOST_ROWS = 200;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, expires_at)
     SELECT gen_random_uuid(), $1, $2, lpad(to_hex(n), 64, '0'), 'inference', md5(n::text) || repeat('x', 900), 'many',
       CASE WHEN n % 10 = 0 THEN now() + n * interval '1 minute' END
     FROM generate_series(1, $3::integer) AS n`,
    [app.workspaceId, app.accountId, KEYS],
  );
  await app.sql('ANALYZE api_keys');
});
afterAll(() => app.close());

interface Node {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

/** Rows that the largest node of the plan reads. */
const rowsOf = (node: Node): number =>
  Math.max(
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    ...(node.Plans ?? []).map(rowsOf),
  );

it.each<Partial<ApiKeyListing>>([
  { order: 'name', isDescending: false },
  { order: 'name', isDescending: true },
  { order: 'expires', isDescending: false },
  { order: 'created', isDescending: false },
  { order: 'expires', isDescending: false, state: 'expiring' },
])('reads a page alone for %j', async (asked) => {
  const { text, values } = findKeys(
    wholeAccount(app.accountId),
    {
      workspaceId: app.workspaceId,
      includeDisabled: true,
      partOfName: '',
      order: 'created',
      isDescending: true,
      state: null,
      stoppedWorkspaceIds: [],
      offset: 0,
      limit: 50,
      ...asked,
    },
    app.clock.now(),
  );
  const [row] = await app.sql<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  expect(rowsOf(row!['QUERY PLAN'][0].Plan)).toBeLessThan(MOST_ROWS);
});
