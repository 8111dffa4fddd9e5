// Settings that are tested before they are saved, and the states of all destinations of a workspace.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import { ask } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';
import { eventually } from '../../support/eventually.js';

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  receiver = await startReceiver(traceCollector);
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

describe('POST /observability/destinations/test', () => {
  const test = (body: object, key = app.managementKey) =>
    ask(app, 'post', '/observability/destinations/test', { body, key });
  const webhook = (config: object = {}) => ({
    type: 'webhook',
    config: { url: receiver.origin, ...config },
  });

  it('sends a test request and stores nothing', async () => {
    const { status, body } = await test(webhook({ headers: { 'X-Secret': 'top-secret-value' } }));
    expect(status).toBe(200);
    expect(body).toEqual({ data: { ok: true, reason: null, duration_ms: expect.any(Number) } });
    expect(receiver.requests[0]?.headers).toMatchObject({
      'x-test-connection': 'true',
      'x-secret': 'top-secret-value',
    });
    expect(await app.sql('SELECT 1 FROM destinations WHERE deleted_at IS NULL')).toEqual([]);
  });

  it('answers the words of the platform without secrets', async () => {
    receiver.always({ status: 401, body: 'no top-secret-value of ours' });
    const { body } = await test(webhook({ headers: { 'X-Secret': 'top-secret-value' } }));
    expect(body.data).toMatchObject({ ok: false, reason: expect.stringContaining('of ours') });
    expect(JSON.stringify(body)).not.toContain('top-secret-value');
  });

  it('rejects a config that could not be saved', async () => {
    expectError(await test({ type: 'langfuse', config: {} }), 400, /config\.secretKey/);
    expectError(await test(webhook({ url: 'http://10.0.0.1/' })), 400, /config/);
    expectError(await test(webhook({ headers: { 'X-Secret': 'top-...alue' } })), 400, /mask/);
  });

  describe('with destination_id', () => {
    let stored: Destination;
    beforeEach(async () => {
      stored = await createDestination(app, {
        url: receiver.origin,
        headers: { 'X-Secret': 'top-secret-value' },
      });
    });
    const masked = { headers: { 'X-Secret': 'top-...alue' } };

    it('replaces abbreviated values by the stored ones', async () => {
      const { body } = await test({ ...webhook({ ...masked, method: 'PUT' }), destination_id: stored.id });
      expect(body.data.ok).toBe(true);
      expect(receiver.requests[0]).toMatchObject({
        method: 'PUT',
        headers: { 'x-secret': 'top-secret-value' },
      });
    });

    it('sends no stored secret to another host', async () => {
      const response = await test({
        ...webhook({ ...masked, url: 'http://127.0.0.2:9/' }),
        destination_id: stored.id,
      });
      expectError(response, 400, /send its secrets again/);
      expect(receiver.requests).toEqual([]);
    });

    it('answers 404 for a destination of another account', async () => {
      const other = await app.createAccount();
      const response = await test({ ...webhook(masked), destination_id: stored.id }, other.managementKey);
      expectError(response, 404, /no such destination/);
    });
  });

  it('answers 429 for the eleventh test of a minute', async () => {
    const { managementKey } = await app.createAccount();
    for (let count = 0; count < 10; count += 1)
      expect((await test(webhook(), managementKey)).status).toBe(200);
    const response = await test(webhook(), managementKey);
    expectError(response, 429, /10 times a minute/);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('GET /observability/deliveries', () => {
  it('answers the states of the destinations of one workspace, in the order of their list', async () => {
    const delivering = await createDestination(app, { url: receiver.origin });
    app.clock.advance(1_000);
    const off = await createDestination(app, { url: receiver.origin }, { enabled: false });
    await recordGenerations(app, 2);
    const { data, total_count: total } = await eventually(
      async () => (await ask(app, 'get', `/observability/deliveries?workspace_id=${app.workspaceId}`)).body,
      (body: { data: { delivered: number }[]; total_count: number }) =>
        body.data.some(({ delivered }) => delivered === 2),
    );
    expect(total).toBe(2);
    expect(data).toEqual([
      expect.objectContaining({ destination_id: off.id, status: 'disabled' }),
      expect.objectContaining({
        destination_id: delivering.id,
        status: 'active',
        delivered: 2,
        pending: 0,
        dead_letters: 0,
        last_error: null,
      }),
    ]);
  });

  it('answers 403 to a key that is not a management key', async () => {
    expectError(await ask(app, 'get', '/observability/deliveries', { key: app.apiKey }), 403, /management/);
  });
});
