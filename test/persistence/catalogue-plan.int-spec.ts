// Rows that the statements on the revisions of the catalogue read, however many there are.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  CHANGED_LAYERS,
  FIND_REVISION,
  LAYERS,
  LIST_REVISIONS,
  NEWEST_VERSION,
  REVISIONS_OF_ENTRY,
} from '../../src/persistence/catalogue/catalogue-statements.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { planOf, scansOf } from '../support/database/plans.js';

const ENTRIES = 2_000;
const REVISIONS_OF_EACH = 10;
const NEWEST = ENTRIES * REVISIONS_OF_EACH;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  // Without notifications: the app has no use for these rows.
  await app.sql('ALTER TABLE catalogue_revisions DISABLE TRIGGER catalogue_changed');
  await app.sql(
    `INSERT INTO catalogue_revisions (version, scope, rank, kind, entry_id, document, actor, created_at)
     SELECT n, 'operator', 'operator', 'rerank_models', 'acme/' || n % ${ENTRIES}, '{}', 'sk-sb-v1-abc...xyz', now()
     FROM generate_series(1, ${NEWEST}) AS n`,
  );
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

it.each<[string, string, unknown[], number]>([
  ['the newest version', NEWEST_VERSION, [], 1],
  // The load after a notification: the revision, whether a later one replaces it, and the newest of each rank.
  ['one new revision', CHANGED_LAYERS, [NEWEST - 1, 200], 4],
  ['no new revision', CHANGED_LAYERS, [NEWEST, 200], 1],
  [
    'the layers of two models',
    LAYERS,
    [
      ['rerank_models', 'rerank_models'],
      ['acme/1', 'acme/2'],
    ],
    4,
  ],
  // Each revision with the one before it.
  ['a revision', FIND_REVISION, [NEWEST / 2], 2],
  ['a page of the history', LIST_REVISIONS, [NEWEST / 2, 51], 102],
  ['the history of a model', REVISIONS_OF_ENTRY, ['rerank_models', 'acme/7', 50], 2 * REVISIONS_OF_EACH],
])(
  'the look-up of %s reads by an index, and no more rows than it needs',
  async (_name, text, values, most) => {
    const scans = scansOf(await planOf(client, text, values));
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.filter(({ index }) => index === null)).toEqual([]);
    expect(scans.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(most);
  },
);
