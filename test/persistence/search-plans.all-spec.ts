// Rows that the search reads in a filled log: those that it finds, by indexes, in every partition.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { MAX_FOUND, MAX_WALKED } from '../../src/persistence/search/search-statements.js';
import { askAs, createPerson } from '../support/app/people.js';
import type { TestPerson } from '../support/app/people.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { fillLog, planOf, scansOf } from '../support/database/plans.js';
import type { Scan } from '../support/database/plans.js';
import { recordStatements } from '../support/database/statements.js';
import { ask, askFor } from '../support/requests/admin.js';

const DAY = 86_400_000;
const DAYS = 60;
const ROWS = 60_000;
const WORKSPACES = 20;
/** Of each partition one row is read to find the newest, and none is read twice. */
const MOST = DAYS + 10 + 2 * MAX_FOUND;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  const stranger = await app.createAccount();
  for (let n = 0; n < WORKSPACES; n++)
    await askFor(201, app, 'post', '/workspaces', { body: { name: `Team ${n}`, slug: `team-${n}` } });
  const from = new Date(app.clock.now().getTime() - DAYS * DAY);
  await fillLog(app, [app.key, stranger.key], { rows: ROWS, from, days: DAYS });
  // A third of the calls have ids of their own, the others one that their clients repeat.
  await app.sql(
    `UPDATE generations SET request_id = 'request-' || log_ordinal, upstream_id = 'upstream-' || log_ordinal,
       session_id = 'session-' || log_ordinal / 100, user_id = 'user-' || log_ordinal / 1000
     WHERE log_ordinal % 3 = 0`,
  );
  await app.sql('VACUUM ANALYZE generations');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

async function scansOfSearch(text: string, person?: TestPerson): Promise<{ found: number; scans: Scan[] }> {
  const recording = recordStatements();
  let found: number;
  try {
    const path = `/search?q=${text}`;
    const { body } = person ? await askAs(person, app, 'get', path) : await ask(app, 'get', path);
    found = (body as { data: unknown[] }).data.length;
  } finally {
    recording.stop();
  }
  // Work that runs by itself reads the log at the same time.
  const statements = [...recording.statements.values()].filter(
    ({ text: sql, values }) => /FROM generations/.test(sql) && values.includes(text),
  );
  expect(statements).toHaveLength(4);
  const scans: Scan[] = [];
  for (const { text: sql, values } of statements) scans.push(...scansOf(await planOf(client, sql, values)));
  return { found, scans };
}

it.each([
  ['an id that no call has', 'none', 0],
  ['a request id', 'request-6', 1],
  ['a request id that most calls have', 'request', MAX_FOUND],
  ['an id of a provider', 'upstream-6', 1],
  ['a session of a hundred calls', 'session-30', 1],
  ['a user of a thousand calls', 'user-30', 1],
])('reads by indexes, and no more rows than it finds, for %s', async (_title, text, expected) => {
  const { found, scans } = await scansOfSearch(text);
  expect(found).toBe(expected);
  const ofLog = scans.filter(({ table }) => table.startsWith('generations'));
  expect(ofLog.filter(({ index, isOfSmallTable }) => index === null && !isOfSmallTable)).toEqual([]);
  const rows = ofLog.filter(({ isOfSmallTable }) => !isOfSmallTable).map((scan) => scan.rows);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(MOST);
});

it.each([
  ['an id that no call has', 'none'],
  ['a request id', 'request-6'],
  ['a request id that most calls have', 'request'],
  ['a session of a hundred calls', 'session-30'],
  ['a user of a thousand calls', 'user-30'],
])(
  "reads by indexes a bounded number of others' rows for a person with own keys: %s",
  async (_title, text) => {
    const person = await createPerson(app, { workspaces: { [app.workspaceId]: 'member' } });
    await app.createKey({ creatorUserId: person.id });
    const { found, scans } = await scansOfSearch(text, person);
    expect(found).toBe(0);
    const ofLog = scans.filter(({ table }) => table.startsWith('generations'));
    expect(ofLog.filter(({ index, isOfSmallTable }) => index === null && !isOfSmallTable)).toEqual([]);
    const rows = ofLog.filter(({ isOfSmallTable }) => !isOfSmallTable).map((scan) => scan.rows);
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_WALKED + MOST);
  },
);
