// Delivery operations for operators: status, tests, dead letters, replays.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { DESTINATIONS, deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver, Script } from '../../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
let destination: Destination;
let poison: string[];
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  poison = [];
  receiver = await startReceiver({
    check: (request) =>
      generationsIn(request).some((id) => poison.includes(id))
        ? { reply: { status: 422, body: 'no' }, stored: [] }
        : traceCollector.check(request),
  });
  destination = await createDestination(app, {
    url: receiver.origin,
    headers: { 'X-Secret': 'top-secret-value' },
  });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

const routeOf = (action: string, id = destination.id): string => `${DESTINATIONS}/${id}/${action}`;
const get = (action: string, key = app.managementKey, id = destination.id) =>
  app.http.get(routeOf(action, id)).set('authorization', `Bearer ${key}`);
const post = (action: string, body: object = {}, key = app.managementKey, id = destination.id) =>
  app.http.post(routeOf(action, id)).set('authorization', `Bearer ${key}`).send(body);

describe('POST /test', () => {
  it('reports that the platform accepts traces', async () => {
    const { status, body } = await post('test');
    expect(status).toBe(200);
    expect(body).toEqual({ data: { ok: true, reason: null, duration_ms: expect.any(Number) } });
    expect(receiver.requests[0]?.headers).toMatchObject({
      'x-test-connection': 'true',
      'x-secret': 'top-secret-value',
    });
  });

  it('needs no body', async () => {
    const { status, body } = await app.http
      .post(routeOf('test'))
      .set('authorization', `Bearer ${app.managementKey}`);
    expect(status).toBe(200);
    expect(body.data.ok).toBe(true);
  });

  it.each([
    ['', 'no such key: top-secret-value', 'no such key: ****'],
    [
      ', of which it quotes the beginning only',
      `${'x'.repeat(190)}top-secret-value`,
      `${'x'.repeat(190)}****`,
    ],
  ])('explains the problem without the secret that the platform repeats%s', async (_name, said, quoted) => {
    receiver.always({ status: 403, body: said });
    const { body } = await post('test');
    expect(body.data).toMatchObject({ ok: false, reason: `HTTP 403: ${quoted}` });
  });

  it.each<[string, Script, RegExp]>([
    ['a reset', 'reset', /ECONNRESET|closed|other side/i],
    ['more than is read', { status: 400, body: 'x'.repeat(1_048_577) }, /larger/],
  ])('reports a platform that answers with %s', async (_name, script, reason) => {
    receiver.always(script);
    const { body } = await post('test');
    expect(body.data.ok).toBe(false);
    expect(body.data.reason).toMatch(reason);
  });

  it('reports an address that must not be reached', async () => {
    const inside = await createDestination(app, { url: 'https://169.254.169.254/latest' });
    const { body } = await post('test', {}, app.managementKey, inside.id);
    expect(body.data.ok).toBe(false);
    expect(body.data.reason).toContain('169.254.169.254');
  });
});

describe('GET /deliveries', () => {
  it('returns zeros for a destination without deliveries', async () => {
    const { body } = await get('deliveries');
    expect(body.data).toEqual({
      status: 'active',
      delivered: 0,
      dropped: {},
      contents_skipped: 0,
      dead_letters: 0,
      pending: 0,
      oldest_pending_at: null,
      failures: 0,
      last_success_at: null,
      last_error: null,
      next_attempt_at: null,
      paused_at: null,
    });
  });

  it('counts delivered and pending generations, and shows the last error', async () => {
    await recordGenerations(app, 3);
    await untilDelivered(app, destination.id, 3);
    receiver.always({ status: 503, body: 'down' });
    await recordGenerations(app, 2);
    await eventually(
      () => readCursor(app, destination.id),
      ({ failures }) => failures > 0,
    );
    const { body } = await get('deliveries');
    expect(body.data).toMatchObject({ status: 'retrying', delivered: 3, pending: 2 });
    expect(body.data.oldest_pending_at).toBe(app.clock.now().toISOString());
    expect(body.data.last_error).toMatchObject({ class: 'retry', status: 503, message: 'HTTP 503: down' });
    expect(Date.parse(body.data.last_success_at)).not.toBeNaN();
  });

  it('shows that it is paused or disabled', async () => {
    receiver.always({ status: 401 });
    await recordGenerations(app, 1);
    await eventually(
      () => readCursor(app, destination.id),
      ({ paused_at }) => paused_at !== null,
    );
    expect((await get('deliveries')).body.data.status).toBe('paused');
    await app.sql('UPDATE destinations SET enabled = false WHERE id = $1', [destination.id]);
    expect((await get('deliveries')).body.data.status).toBe('disabled');
  });
});

describe('a connection test', () => {
  const untilPaused = () =>
    eventually(
      () => readCursor(app, destination.id),
      ({ failures }) => failures > 0,
    );

  it('ends the pause of waiting deliveries when it succeeds', async () => {
    receiver.always({ status: 503, headers: { 'retry-after': '3000' } });
    await recordGenerations(app, 2);
    await untilPaused();
    receiver.always(null);
    expect((await post('test')).body.data.ok).toBe(true);
    await untilDelivered(app, destination.id, 2);
    expect((await get('deliveries')).body.data).toMatchObject({ status: 'active', next_attempt_at: null });
  });

  it('leaves them waiting when it fails', async () => {
    receiver.always({ status: 503, headers: { 'retry-after': '3000' } });
    await recordGenerations(app, 1);
    await untilPaused();
    expect((await post('test')).body.data.ok).toBe(false);
    expect((await get('deliveries')).body.data).toMatchObject({ status: 'retrying', delivered: 0 });
  });
});

describe('GET /signing-secret', () => {
  it('returns the secret that verifies deliveries', async () => {
    const { body } = await get('signing-secret');
    await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 1);
    const [request] = receiver.requests;
    const verify = (): unknown =>
      new Webhook(body.data.secret).verify(request?.bytes ?? '', request?.headers as Record<string, string>);
    // The verifier does not use the test's clock.
    expect(verify).toThrow('Message timestamp too old');
    app.clock.set(new Date().toISOString());
    await recordGenerations(app, 1);
    await untilDelivered(app, destination.id, 2);
    const [, later] = receiver.requests;
    expect(
      new Webhook(body.data.secret).verify(later?.bytes ?? '', later?.headers as Record<string, string>),
    ).toHaveProperty('resourceSpans');
  });

  it('returns the secret that verifies the connection test', async () => {
    const { body } = await get('signing-secret');
    app.clock.set(new Date().toISOString());
    expect((await post('test')).body.data.ok).toBe(true);
    const [request] = receiver.requests;
    expect(
      new Webhook(body.data.secret).verify(request?.bytes ?? '', request?.headers as Record<string, string>),
    ).toEqual({ resourceSpans: [] });
  });
});

describe('dead letters', () => {
  async function bury(count: number): Promise<string[]> {
    receiver.always({ status: 503 });
    const ids = await recordGenerations(app, count);
    poison.push(...ids);
    receiver.always(null);
    await eventually(
      () => readCursor(app, destination.id),
      ({ dropped }) => dropped['refused'] === count,
    );
    return ids;
  }

  it('are listed by page, newest first, with the reason', async () => {
    const ids = await bury(5);
    const { body } = await get('dead-letters?offset=1&limit=3');
    expect(body.total_count).toBe(5);
    expect(body.data).toHaveLength(3);
    expect(body.data[0]).toMatchObject({
      generation_id: expect.any(String),
      generation_created_at: app.clock.now().toISOString(),
      reason: 'refused',
      message: 'HTTP 422: no',
      replay_requested: false,
      replay_result: null,
      replayed_at: null,
    });
    expect(ids).toContain(body.data[0].generation_id);
    expect((await get('dead-letters?offset=50')).body).toEqual({
      data: [],
      total_count: 5,
      next_cursor: null,
    });
  });

  it('are listed by cursor, each once, though new ones are added', async () => {
    const ids = await bury(5);
    const seen: string[] = [];
    let query = 'dead-letters?limit=2';
    for (let page = 1; page <= 3; page++) {
      const { body } = await get(query);
      seen.push(...body.data.map((letter: { generation_id: string }) => letter.generation_id));
      query = `dead-letters?limit=2&cursor=${body.next_cursor}`;
      expect(body.next_cursor === null).toBe(page === 3);
      // New dead letters come before the first page.
      if (page === 1) {
        await app.sql(
          `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason,
             message, created_at)
           SELECT workspace_id, destination_id, gen_random_uuid(), generation_created_at, reason, message,
             created_at + interval '1 minute'
           FROM dead_letters WHERE destination_id = $1`,
          [destination.id],
        );
      }
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect((await get('dead-letters')).body.total_count).toBe(10);
  });

  it.each(['x', 'MTIz', Buffer.from('1.not-a-uuid').toString('base64url')])(
    'reject the cursor %s',
    async (cursor) => {
      expectError(
        await get(`dead-letters?cursor=${cursor}`),
        400,
        /cursor: must be the next_cursor of a page/,
      );
    },
  );

  it.each([['all'], ['named']])('are delivered by a replay: %s', async (which) => {
    const ids = await bury(3);
    poison = [];
    const wanted = which === 'all' ? ids : [ids[1]!];
    const { status, body } = await post('replay', { dead_letters: which === 'all' ? 'all' : wanted });
    expect(status).toBe(202);
    expect(body).toEqual({ data: { dead_letters: wanted.length } });
    await untilDelivered(app, destination.id, wanted.length);
    expect(receiver.stored.toSorted()).toEqual(wanted.toSorted());
    const { data } = await eventually(
      async () => (await get('dead-letters')).body,
      ({ data: letters }: { data: { replay_result: string | null }[] }) =>
        letters.filter(({ replay_result: result }) => result === 'delivered').length === wanted.length,
    );
    const replayed = data.filter(({ replay_result: result }) => result === 'delivered');
    expect(data).toHaveLength(ids.length);
    expect(replayed).toEqual(
      expect.arrayContaining(
        wanted.map((id) =>
          expect.objectContaining({
            generation_id: id,
            replay_requested: false,
            replayed_at: app.clock.now().toISOString(),
          }),
        ),
      ),
    );
    expect((await get('deliveries')).body.data.dead_letters).toBe(ids.length - wanted.length);
    const { body: again } = await post('replay', { dead_letters: wanted });
    expect(again).toEqual({ data: { dead_letters: 0 } });
  });

  it('say when a replay is rejected again', async () => {
    await bury(1);
    await post('replay', { dead_letters: 'all' });
    const { body } = await eventually(
      () => get('dead-letters').then((response) => response),
      (response) => response.body.data[0]?.replay_requested === false,
    );
    expect(body.total_count).toBe(1);
    expect(body.data[0]).toMatchObject({ replay_result: 'rejected', replayed_at: expect.any(String) });
    expect((await get('deliveries')).body.data.dead_letters).toBe(1);
  });
});

describe('access', () => {
  const ROUTES = [
    ['POST', 'test'],
    ['GET', 'deliveries'],
    ['GET', 'signing-secret'],
    ['GET', 'dead-letters'],
    ['POST', 'replay'],
  ] as const;
  const call = (method: string, action: string, key: string, id?: string) =>
    method === 'GET' ? get(action, key, id) : post(action, { dead_letters: 'all' }, key, id);

  it.each(ROUTES)('to %s /%s requires a management key', async (method, action) => {
    expectError(await call(method, action, app.apiKey), 401);
  });

  it.each(ROUTES)('to %s /%s returns 404 for a destination of another account', async (method, action) => {
    const other = await app.createAccount();
    expectError(await call(method, action, other.managementKey), 404);
    expectError(await call(method, action, app.managementKey, randomUUID()), 404);
    expectError(await call(method, action, app.managementKey, 'no-uuid'), 404);
  });
});

describe('GET /metrics', () => {
  it('counts by kind and reason, without secrets', async () => {
    await recordGenerations(app, 2);
    await untilDelivered(app, destination.id, 2);
    const { status, text, headers } = await app.http.get('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toMatch(/^signalbox_broadcast_delivered_total\{kind="webhook"\} \d+$/m);
    expect(text).toMatch(/^signalbox_broadcast_lag_seconds_count\{kind="webhook"\} \d+$/m);
    // From the start: without a zero before it, the first loss would show no increase.
    expect(text).toContain('signalbox_broadcast_dropped_total{kind="datadog",reason="refused"} 0');
    expect(text).toContain('signalbox_broadcast_failed_attempts_total{kind="s3",class="blocked"} 0');
    expect(text).not.toContain('top-secret');
  });
});
