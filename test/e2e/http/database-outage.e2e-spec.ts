// The database fails while the service runs: 503 in the error shape, and recovery without a restart.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { post, WEBHOOK } from '../../support/requests/create-destination.js';
import { rejectNewConnections } from '../../support/database/database-outage.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { getKey } from '../../support/requests/get-key.js';

const AWAY = 'Service temporarily unavailable: the database cannot be reached';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const ready = () => app.http.get('/ready');

it('returns 503 for every call that needs the unreachable database, and recovers when it is back', async () => {
  expect((await getKey(app, app.key.hash)).status).toBe(200);
  expect((await ready()).status).toBe(200);

  const outage = await rejectNewConnections(app.databaseUrl);
  try {
    await outage.endConnections();
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([
        getKey(app, app.key.hash),
        post(app, WEBHOOK),
        app.http
          .post('/api/v1/embeddings')
          .set('authorization', `Bearer ${app.apiKey}`)
          .send({ model: 'local/hashing', input: 'x' }),
        ready(),
      ]);
      for (const answer of answers) {
        expectError(answer, 503, AWAY);
        // Clients wait for as long as Retry-After says (docs/contract.md#errors).
        expect(answer.headers['retry-after']).toBe('1');
      }
    }
    expect((await app.http.get('/health')).status).toBe(200);
    expectError(await getKey(app, app.key.hash, null), 401);
  } finally {
    await outage.end();
  }

  await eventually(
    async () => (await ready()).status,
    (status) => status === 200,
  );
  expect((await getKey(app, app.key.hash)).status).toBe(200);
  expect((await post(app, WEBHOOK)).status).toBe(201);
  expect(await app.sql('SELECT id FROM destinations')).toHaveLength(1);
});

it('replaces broken connections one by one without a restart', async () => {
  for (let round = 0; round < 5; round++) {
    await app.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const answer = await eventually(
      () => getKey(app, app.key.hash),
      ({ status }) => status !== 503,
    );
    expect(answer.status).toBe(200);
  }
});

it('names in /ready the migrations that the database lacks', async () => {
  await app.sql('UPDATE _prisma_migrations SET finished_at = NULL');
  const answer = await ready();
  expectError(answer, 503, /^Service temporarily unavailable: migrations are missing: \d+_\w+/);
  await app.sql('UPDATE _prisma_migrations SET finished_at = now()');
  expect((await ready()).body).toMatchObject({ status: 'ready' });
});
