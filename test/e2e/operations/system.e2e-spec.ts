// GET /system. Contract: docs/contract.md#system.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
} from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  app = await createDeliveryApp();
  app.clock.set(new Date().toISOString());
});
afterAll(() => app.close());

interface System {
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

it('states version, migrations, processes, deliveries, cache and encryption keys', async () => {
  await createDestination(app, { url: 'http://127.0.0.1:1/' });
  await recordGenerations(app, 1);
  const { data } = await askFor<System>(200, app, 'get', '/system');
  expect(data).toMatchObject({
    version: '0.1.0',
    node_version: process.version,
    postgres_version: expect.stringMatching(/^\d+/),
    started_at: expect.any(String),
    migrations: { applied: expect.any(Number), latest: expect.stringMatching(/^20\d{12}_/), pending: [] },
    processes: { live: 1, workers: 1, delivery_process: true, shared_rate_limits: false },
    deliveries: {
      destinations: 1,
      waiting: 1,
      retrying: expect.any(Number),
      paused: 0,
      oldest_pending_at: expect.any(String),
      held_back_seconds: expect.any(Number),
    },
    cache: { max_bytes: 64 * 1024 * 1024, ttl: 3_600, hits: 0, misses: 0 },
    encryption: {
      current_key_id: expect.stringMatching(/^[0-9a-f]{8}$/),
      known_key_ids: [expect.any(String)],
      key_ids_in_use: [{ id: expect.any(String), rows: 1 }],
    },
    catalogue: {
      file: null,
      loaded_at: expect.any(String),
      problem: null,
      embedding_models: expect.any(Number),
      chat_models: expect.any(Number),
    },
  });
});

it('shows nothing of another account', async () => {
  const { managementKey: key } = await app.createAccount();
  const { data } = await askFor<System>(200, app, 'get', '/system', { key });
  expect(data).toMatchObject({
    deliveries: { destinations: 0, waiting: 0, oldest_pending_at: null },
    encryption: { key_ids_in_use: [] },
  });
});

it('describes a bounded number of destinations', async () => {
  const { accountId, workspaceId, managementKey: key } = await app.createAccount();
  await app.sql(
    `WITH added AS (
       INSERT INTO destinations (id, workspace_id, account_id, kind, type, slot, name, enabled, privacy_mode, broadcast_cost,
         broadcast_identity, broadcast_request_context, sampling_rate, api_key_hashes, regions, config_ciphertext,
         config_encryption_key_id, updated_at)
       SELECT gen_random_uuid(), $1, $2, 'webhook-' || n, 'webhook', 1, 'Many', true, false, false, false, false, 1, '{}',
         '{global}', '', '', now()
       FROM generate_series(1, 1100) AS n
       RETURNING workspace_id, id
     )
     INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal, failures)
     SELECT workspace_id, id, 0, 0, 1 FROM added`,
    [workspaceId, accountId],
  );
  const { data } = await askFor<System>(200, app, 'get', '/system', { key });
  expect(data['deliveries']).toMatchObject({ destinations: 1_000, waiting: 0, retrying: 1_000 });
});

it('returns 403 for an inference key and 401 without one', async () => {
  expectError(await ask(app, 'get', '/system', { key: app.apiKey }), 403);
  expectError(await app.http.get('/api/v1/system'), 401);
});
