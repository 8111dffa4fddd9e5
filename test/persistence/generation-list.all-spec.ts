// The list of generations in a filled log: rows that a page reads, by any filter, and the way through a search for rare calls.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { MAX_WALK } from '../../src/persistence/generations/generation-list-statements.js';
import { askFor } from '../support/requests/admin.js';
import { askAs, createPerson } from '../support/app/people.js';
import type { TestPerson } from '../support/app/people.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { makeDays, planOf, scansOf } from '../support/database/plans.js';
import type { Scan } from '../support/database/plans.js';
import { recordStatements } from '../support/database/statements.js';

interface Page {
  readonly data: readonly { readonly id: string; readonly created_at: string }[];
  readonly next_cursor: string | null;
  readonly searched_until: string | null;
}

const DAY = 86_400_000;
const ROWS = 3 * MAX_WALK.all;
const DAYS = 10;
// Yesterday at 18:00: at any time of today the parts of the log have the same sizes.
const END = new Date((Math.floor(Date.now() / DAY) - 1 / 4) * DAY);
const LIMIT = 20;

let app: TestApp;
let client: pg.Client;
let rare: string;
let neverUsed: string;
/** Has created the two keys above. */
let person: TestPerson;
beforeAll(async () => {
  app = await createTestApp();
  app.clock.set(END.toISOString());
  const { record } = await app.createKey();
  rare = record.hash;
  neverUsed = (await app.createKey()).record.hash;
  person = await createPerson(app, { workspaces: { [app.workspaceId]: 'member' } });
  await app.sql('UPDATE api_keys SET creator_user_id = $1 WHERE hash = ANY($2)', [
    person.id,
    [rare, neverUsed],
  ]);
  await makeDays(app, new Date(END.getTime() - DAYS * DAY), DAYS);
  // The rare ones are calls of the oldest day and of the middle.
  await app.sql(
    `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, endpoint,
       provider, status, error_type, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, encoding_format,
       duration_ms, user_id, session_id, request_id, region)
     SELECT gen_random_uuid(), $1, $5::timestamptz - (($6 - n) * interval '1 day' * $7 / $6), n, $2,
       CASE WHEN is_rare THEN $4::uuid ELSE $3::uuid END, CASE WHEN is_rare THEN 'chat' ELSE 'embeddings' END, CASE WHEN is_rare THEN 'rare/model' ELSE 'model' END, 'e',
       CASE WHEN is_rare THEN 'rare' ELSE 'openai' END,
       CASE WHEN is_rare THEN 529 WHEN n % 50 = 0 THEN 502 WHEN n % 50 = 1 THEN 404 ELSE 200 END,
       CASE WHEN is_rare THEN 'rare' WHEN n % 50 < 2 THEN 'server' END, 1, 1, 1, 0, 0, false,
       'float', 5, CASE WHEN is_rare THEN 'rare' WHEN n % 2 = 0 THEN 'user' END,
       CASE WHEN is_rare THEN 'rare' WHEN n % 3 = 0 THEN 'session-' || n / 10 END,
       CASE WHEN is_rare THEN 'rare' ELSE 'request-' || n / 3 END, 'global'
     FROM generate_series(1, $6::integer) AS n CROSS JOIN LATERAL (SELECT n IN (10, 20, $6 / 2) AS is_rare) AS chosen`,
    [app.workspaceId, app.accountId, app.key.id, record.id, END, ROWS, DAYS],
  );
  // Visibility is what a log has after a while.
  await app.sql('VACUUM ANALYZE generations');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await app.close();
});

const list = (query: string): Promise<Page> =>
  askFor<Page>(200, app, 'get', `/generations?limit=${LIMIT}&${query}`);

/** All pages of the filter, and their number. */
async function search(query: string): Promise<{ found: number; pages: number; last: Page }> {
  let found = 0;
  let pages = 0;
  let cursor: string | null = '';
  let last: Page = { data: [], next_cursor: null, searched_until: null };
  while (cursor !== null) {
    last = await list(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found += last.data.length;
    pages++;
    cursor = last.next_cursor;
  }
  return { found, pages, last };
}

async function scansOfPage(query: string): Promise<Scan[]> {
  const recording = recordStatements();
  await list(query);
  recording.stop();
  const scans: Scan[] = [];
  for (const { text, values } of recording.statements.values()) {
    if (text.trim().startsWith('SELECT') && text.includes('FROM generations'))
      scans.push(...scansOf(await planOf(client, text, values)));
  }
  return scans;
}

const ALL = [
  '',
  'status=200',
  'status=529',
  'status=502',
  'status=5xx',
  'status=error',
  'status=524',
  'error_type=rare',
  'error_type=none',
  'request_id=rare',
  'request_id=request-100',
  'session_id=rare',
  'session_id=session-100',
  'user_id=rare',
  'user_id=user',
  'model=model',
  'model=rare/model',
  'model=none',
  'provider=rare',
  'api_key_hash={rare}',
  'api_key_hash={never}',
  'api_key_hash={rare}&status=200',
  'api_key_hash={rare}&status=error',
  'user_id=user&model=rare/model',
  'api_type=embeddings',
  'api_type=completions',
  'api_type=completions&status=200',
  'api_type=completions&api_key_hash={rare}',
];
const fill = (query: string): string => query.replace('{rare}', rare).replace('{never}', neverUsed);

describe.each(['while nothing is summed', 'with summed days'])('%s', (state) => {
  beforeAll(async () => {
    if (state === 'while nothing is summed') return;
    await eventually(
      async () => {
        await app.application.get(ActivityRollup).catchUp(0);
        const [row] = await app.sql<{ sum: string }>(
          'SELECT coalesce(sum(requests), 0)::text AS sum FROM activity_days',
        );
        return Number(row?.sum);
      },
      (sum) => sum === ROWS,
    );
    await app.sql('ANALYZE');
  });

  it.each(ALL)('a page reads a bounded number of rows by an index: %s', async (query) => {
    const scans = await scansOfPage(fill(query));
    expect(scans.length).toBeGreaterThan(0);
    for (const { table, index, rows, isOfSmallTable } of scans) {
      expect([table, index !== null || isOfSmallTable]).toEqual([table, true]);
      expect([table, rows <= MAX_WALK.all]).toEqual([table, true]);
    }
  });

  it.each(['', 'status=200', 'status=error', 'user_id=user', 'request_id=request-100', 'model=model'])(
    'a person finds the calls of own keys by bounded pages, and no cursor names the call of another key (V61): %s',
    async (query) => {
      const recording = recordStatements();
      const found: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const path = `/generations?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { status, body } = await askAs(person, app, 'get', path);
        expect(status).toBe(200);
        const page = body as Page;
        found.push(...page.data.map(({ id }) => id.slice(4)));
        cursor = page.next_cursor;
        const [, id = ''] = Buffer.from(cursor ?? '', 'base64url')
          .toString()
          .split('.');
        const named = id.replaceAll('-', '');
        expect(cursor === null || /^0+$/.test(named) || found.includes(named)).toBe(true);
      }
      recording.stop();
      expect(found).toHaveLength(query === '' || query === 'status=error' ? 3 : 0);
      for (const { text, values } of recording.statements.values()) {
        if (!text.trim().startsWith('SELECT') || !text.includes('FROM generations')) continue;
        for (const { table, index, rows, isOfSmallTable } of scansOf(await planOf(client, text, values))) {
          expect([table, index !== null || isOfSmallTable]).toEqual([table, true]);
          expect([table, rows <= MAX_WALK.all]).toEqual([table, true]);
        }
      }
    },
  );

  it.each([
    ['status=529', 3],
    ['error_type=rare', 3],
    ['error_type=none', 0],
    ['request_id=rare', 3],
    ['session_id=rare', 3],
    ['user_id=rare', 3],
    ['api_type=completions', 3],
    ['api_type=completions&model=rare/model', 3],
    ['api_type=completions&status=200', 0],
    ['model=rare/model', 3],
    ['provider=rare', 3],
    ['api_key_hash={rare}', 3],
    ['api_key_hash={rare}&status=error', 3],
    ['api_key_hash={rare}&status=200', 0],
    ['api_key_hash={never}', 0],
    ['status=404&limit=100', ROWS / 50],
  ])('a search finds every call: %s', async (query, count) => {
    const { found, last } = await search(fill(query).replace('&limit=100', ''));
    expect(found).toBe(count);
    expect(last.searched_until).toBeNull();
  });
});

it('a value with an index of its own is found by the first page', async () => {
  for (const query of ['status=529', 'request_id=rare', 'session_id=rare', 'user_id=rare'])
    expect(await search(query)).toMatchObject({ found: 3, pages: 1 });
});

it('summed days lead to a rare key, model or provider at once, and to none of a key that was never used', async () => {
  for (const query of ['model=none', `api_key_hash=${neverUsed}`])
    expect((await search(query)).pages).toBe(1);
  for (const query of ['model=rare/model', 'provider=rare', `api_key_hash=${rare}`])
    expect((await search(query)).pages).toBeLessThanOrEqual(2);
});

it('a page of a search that goes on states how far it has come', async () => {
  const page = await list('status=200&user_id=rare');
  expect(page).toMatchObject({ data: [], next_cursor: null });
  await app.sql('UPDATE activity_rollup SET summed_before = 0, pass_until = 0');
  const first = await list('model=rare/model');
  expect(first.data).toEqual([]);
  const until = new Date(first.searched_until ?? 0).getTime();
  // A third of the time: the bound of a walk is a third of the rows.
  expect((END.getTime() - until) / DAY).toBeGreaterThan(DAYS / 3 - 1);
  expect((END.getTime() - until) / DAY).toBeLessThan(DAYS / 3 + 1);
  expect(first.next_cursor).not.toBeNull();
});
