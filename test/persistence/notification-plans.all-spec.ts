// Rows that the statements of budget alerts read in a filled database: those of the calls since the last scan, not those of
// all keys or of the whole log.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { NotificationSender } from '../../src/deliveries/notifications/notification-sender.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';
import { createNotification, scanPast } from '../support/deliveries/notifications.js';
import { fillLog, planOf, scansOf } from '../support/database/plans.js';
import { recordStatements } from '../support/database/statements.js';

const KEYS = 20_000;
const ROWS = 20_000;
const CALLS = 5;
/** Far above the rows of a scan, far below those of the tables. */
const MANY = 200;

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await createTestApp();
  await createNotification(app, 'https://example.com');
  await fillLog(app, [app.key], {
    rows: ROWS,
    from: new Date(app.clock.now().getTime() - 3_600_000),
    days: 1 / 24,
  });
  await app.sql(
    `INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, limit_amount)
     SELECT gen_random_uuid(), $1, $2, lpad(n::text, 64, '0'), 'inference', 'Key', 'key', 10 FROM generate_series(1, $3::integer) AS n`,
    [app.workspaceId, app.accountId, KEYS],
  );
  await app.sql(
    `INSERT INTO key_spend (workspace_id, api_key_id, last_day, total)
     SELECT workspace_id, id, $1::date, 9 FROM api_keys ON CONFLICT DO NOTHING`,
    [app.clock.now()],
  );
  await app.sql(
    `INSERT INTO notification_events (account_id, id, rule_id, payload, state, expires_at)
     SELECT account_id, gen_random_uuid(), id, '{}', 'delivered', now() FROM notification_rules, generate_series(1, $1::integer)`,
    [ROWS],
  );
  await scanPast(app);
  await app.sql('ANALYZE');
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app?.close();
});

it('a scan reads the keys that were called, by indexes', async () => {
  const recording = recordStatements();
  try {
    const { record } = await app.createKey({ limit: 1n });
    await recordGenerations(app, CALLS, { cost: 1n }, null, record);
    await scanPast(app);
    await app.application.get(NotificationSender).poll();
  } finally {
    recording.stop();
  }
  const statements = [...recording.statements.values()].filter(
    ({ text }) => /notification_|AS called/.test(text) && /^\s*(?:SELECT|WITH|UPDATE)/.test(text),
  );
  expect(statements.some(({ text }) => text.includes('FROM generations'))).toBe(true);
  expect(statements.some(({ text }) => text.includes('INSERT INTO notification_marks'))).toBe(true);
  for (const { text, values } of statements) {
    await client.query('BEGIN');
    // An event is written once.
    const fresh = values.map((value) =>
      typeof value === 'string' ? value.replaceAll(/"id":"[^"]+"/g, () => `"id":"${randomUUID()}"`) : value,
    );
    const scans = scansOf(await planOf(client, text, fresh));
    await client.query('ROLLBACK');
    for (const scan of scans) expect([text, scan.table, scan.rows < MANY]).toEqual([text, scan.table, true]);
  }
});
