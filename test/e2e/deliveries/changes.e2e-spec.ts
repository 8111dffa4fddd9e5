// Effects of a changed destination on deliveries in progress, and of rules that cannot be applied.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { FilterRules } from '../../../src/domain/destinations/filter-rules.js';
import { ask } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../../support/deliveries/trace-collector.js';

const PATH = '/observability/destinations';
const WORDS = 'words of a caller';

let app: TestApp;
let receiver: RunningReceiver;
/** Answers the requests of single traces that wait. */
let answer: () => void;
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  receiver = await startReceiver({
    check: async (request) => {
      // A batch is sent in parts, one request for each trace.
      if (generationsIn(request).length > 1) return { reply: { status: 413 }, stored: [] };
      await answered;
      return traceCollector.check(request);
    },
  });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

const withWords = (): number =>
  receiver.requests.filter((request) => request.bytes.includes(WORDS) && generationsIn(request).length === 1)
    .length;

/** A destination with six traces, the first of which is in flight in a request of its own. */
async function inFlight(): Promise<string> {
  const { id } = await createDestination(app, { url: receiver.origin });
  await recordGenerations(app, 6, {}, contentOfText(WORDS));
  await eventually(
    () => Promise.resolve(withWords()),
    (count) => count === 1,
  );
  return id;
}

describe('a batch in flight', () => {
  it('continues without inputs once privacy mode is on', async () => {
    const id = await inFlight();
    expect((await ask(app, 'patch', `${PATH}/${id}`, { body: { privacy_mode: true } })).status).toBe(200);
    answer();
    await untilDelivered(app, id, 6);
    expect(withWords()).toBe(1);
  });

  it('continues with the selection of a changed allowlist', async () => {
    const id = await inFlight();
    const { record } = await app.createKey();
    const body = { api_key_hashes: [record.hash] };
    expect((await ask(app, 'patch', `${PATH}/${id}`, { body })).status).toBe(200);
    answer();
    const [wanted] = await recordGenerations(app, 1, {}, contentOfText('others'), record);
    await untilDelivered(app, id, 2);
    expect(withWords()).toBe(1);
    expect(receiver.stored).toHaveLength(2);
    expect(receiver.stored[1]).toBe(wanted);
  });

  it('continues with changed credentials', async () => {
    const id = await inFlight();
    const body = { config: { headers: { Authorization: 'Bearer new' } } };
    expect((await ask(app, 'patch', `${PATH}/${id}`, { body })).status).toBe(200);
    const before = receiver.requests.length;
    answer();
    await untilDelivered(app, id, 6);
    const after = receiver.requests.slice(before).map(({ headers }) => headers.authorization);
    expect(new Set(after)).toEqual(new Set(['Bearer new']));
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['deleted', (id) => ask(app, 'delete', `${PATH}/${id}`)],
    ['switched off', (id) => ask(app, 'patch', `${PATH}/${id}`, { body: { enabled: false } })],
    [
      'switched off with its workspace',
      () => app.sql('UPDATE workspaces SET is_broadcast_enabled = false WHERE id = $1', [app.workspaceId]),
    ],
  ])('is aborted with its request in flight when its destination is %s', async (_what, end) => {
    const id = await inFlight();
    try {
      await end(id);
      // The receiver has not answered the request: the sender closed it.
      await eventually(
        () => Promise.resolve(receiver.abandoned),
        (count) => count === 1,
      );
      // A deleted destination has no cursor.
      const cursors = await eventually(
        () =>
          app.sql<{ lease_owner: string | null; failures: number }>(
            'SELECT lease_owner, failures FROM delivery_cursors WHERE destination_id = $1',
            [id],
          ),
        (rows) => rows.every(({ lease_owner: owner }) => owner === null),
      );
      expect(cursors.every(({ failures }) => failures === 0)).toBe(true);
      expect(withWords()).toBe(1);
    } finally {
      answer();
      await app.sql('UPDATE workspaces SET is_broadcast_enabled = true WHERE id = $1', [app.workspaceId]);
    }
  });
});

describe('a stored rule that must not be compiled', () => {
  const rules = (value: string): FilterRules => ({
    enabled: true,
    groups: [{ logic: 'and', rules: [{ field: 'input', operator: 'regex', value }] }],
  });

  it.each([
    [
      'is too large',
      `(?:${'a'.repeat(985)}){1000}`,
      /^filter_rules\.groups\[0\]\.rules\[0\]\.value is too large/,
    ],
    ['is no RE2', '(?=x)', /^filter_rules\.groups\[0\]\.rules\[0\]\.value: error parsing regexp/],
  ])(
    'pauses its destination with the reason when it %s, and no other destination',
    async (_what, value, reason) => {
      answer();
      const { id } = await createDestination(app, { url: receiver.origin }, { filterRules: rules(value) });
      const good = await startReceiver(traceCollector);
      const { id: other } = await createDestination(app, { url: good.origin });
      const ids = await recordGenerations(app, 3, {}, contentOfText(WORDS));
      await untilDelivered(app, other, 3);
      const { body } = await eventually(
        () => ask(app, 'get', `${PATH}/${id}/deliveries`),
        ({ body: { data } }) => (data as { status: string }).status === 'paused',
      );
      expect(body).toMatchObject({
        data: { last_error: { class: 'blocked', message: expect.stringMatching(reason) } },
      });
      expect(receiver.requests).toEqual([]);
      const change = { filter_rules: rules('caller$') };
      expect((await ask(app, 'patch', `${PATH}/${id}`, { body: change })).status).toBe(200);
      await untilDelivered(app, id, 3);
      expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
      await good.close();
    },
  );
});

/** Holds a transaction with a number open, in the named database of the server, or in that of the app. */
async function openTransaction(database?: string): Promise<{ end(): Promise<void> }> {
  const url = new URL(app.databaseUrl);
  if (database !== undefined) url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT pg_current_xact_id()');
  return {
    end: async () => {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}

describe('a long open transaction', () => {
  it('does not exclude generations from a replay when a destination is enabled during it', async () => {
    answer();
    app.clock.advance(60_000);
    const from = app.clock.now().toISOString();
    const open = await openTransaction();
    const ids = await recordGenerations(app, 3);
    const { id } = await createDestination(app, { url: receiver.origin });
    await open.end();
    const [later] = await recordGenerations(app, 1);
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([later]);
    expect((await ask(app, 'post', `${PATH}/${id}/replay`, { body: { from } })).status).toBe(202);
    await untilDelivered(app, id, 5);
    expect(receiver.stored.toSorted()).toEqual([...ids, ...[later, later].map(String)].toSorted());
  });

  it('does not exclude generations from a replay before the cursor has moved', async () => {
    answer();
    app.clock.advance(60_000);
    await recordGenerations(app, 2);
    app.clock.advance(60_000);
    const from = app.clock.now().toISOString();
    const open = await openTransaction();
    await recordGenerations(app, 2, { createdAt: new Date(app.clock.now().getTime() - 30_000) });
    const ids = await recordGenerations(app, 3);
    const { id } = await createDestination(app, { url: receiver.origin });
    await open.end();
    expect((await ask(app, 'post', `${PATH}/${id}/replay`, { body: { from } })).status).toBe(202);
    await untilDelivered(app, id, 3);
    // Excludes generations that were committed before the destination was enabled.
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
  });

  it('is named by GET /ready and by a metric when it is in another database', async () => {
    const open = await openTransaction('postgres');
    try {
      const ready = await eventually(
        () => app.http.get('/ready').then(({ body }) => body as { details?: object }),
        ({ details }) => details !== undefined,
      );
      expect(ready).toEqual({
        status: 'ready',
        details: {
          deliveries_held_back_seconds: expect.any(Number),
          deliveries_held_back_by: 'another database',
        },
      });
      await eventually(
        () => app.http.get('/metrics').then(({ text }) => text),
        (text) => /\nsignalbox_broadcast_held_back_seconds [1-9]/.test(text),
      );
    } finally {
      await open.end();
    }
  });
});
