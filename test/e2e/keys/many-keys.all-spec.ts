// GET /keys of a workspace with 10,000 keys, beside as many of five others: bounded pages and searches, no scan of the table.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { nodesOf, planOf, scansOf } from '../../support/database/plans.js';
import { recordStatements } from '../../support/database/statements.js';

const KEYS = 10_000;
const PAGE = 100;
// The keys of the app's own account are in the workspace as well.
const OWN = KEYS + 2;
// Keys of other accounts: reading all of a table that holds little else would be right.
const OTHERS = 5;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  for (let count = 0; count < OTHERS; count++) await fillKeys(await app.createAccount());
  await fillKeys(app);
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

async function fillKeys({
  workspaceId,
  accountId,
}: Pick<TestAccount, 'workspaceId' | 'accountId'>): Promise<void> {
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, created_at)
     SELECT gen_random_uuid(), $1, $2, encode(sha256(($4::text || number)::bytea), 'hex'), 'inference', 'Key ' || number, 'label',
       '2026-11-01T00:00:00Z'::timestamptz + number * interval '1 second'
     FROM generate_series(1, $3::integer) AS number`,
    [workspaceId, accountId, KEYS, `${workspaceId} `],
  );
}

const pageOf = async (query: string): Promise<readonly string[]> => {
  const { data } = await askFor<{ data: { hash: string }[] }>(200, app, 'get', `/keys?${query}`);
  return data.map(({ hash }) => hash);
};

it('shows every key once, page by page', async () => {
  const found: string[] = [];
  for (;;) {
    const page = await pageOf(`offset=${found.length}`);
    expect(page.length).toBeLessThanOrEqual(PAGE);
    found.push(...page);
    if (page.length < PAGE) break;
  }
  const all = await app.sql<{ hash: string }>('SELECT hash FROM api_keys WHERE workspace_id = $1', [
    app.workspaceId,
  ]);
  expect(new Set(found).size).toBe(found.length);
  expect(found.toSorted()).toEqual(all.map(({ hash }) => hash).toSorted());
});

it.each([
  ['offset=0', PAGE],
  [`offset=${KEYS - PAGE}`, OWN],
  ['q=KEY%20777', OWN],
  ['q=none', OWN],
])('reads no table whole for the page of %s, and at most %i rows', async (query, most) => {
  const recording = recordStatements();
  try {
    await pageOf(query);
  } finally {
    recording.stop();
  }
  const statements = [...recording.statements.values()].filter(({ text }) =>
    /api_keys|usage_|key_spend/.test(text),
  );
  expect(statements.map(({ text }) => text).join('\n')).toContain('"api_keys"');
  for (const { text, values } of statements) {
    const plan = await planOf(client, text, values);
    const whole = nodesOf(plan).filter(
      (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'api_keys',
    );
    expect(whole).toEqual([]);
    for (const { rows } of scansOf(plan)) expect(rows).toBeLessThanOrEqual(most);
  }
});
