// From a call to a destination through the whole service: delivered data, withheld data, and stored contents in
// between.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewDestination } from '../../../src/domain/destinations/destination.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const CANARY = 'canary-in-the-input';

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  // Port 1 refuses every connection: calls of this provider fail.
  const environment = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: 'http://127.0.0.1:1', PROVIDER_RETRIES: '0' };
  app = await createDeliveryApp({ environment });
});
beforeEach(async () => {
  receiver = await startReceiver(traceCollector);
});
afterEach(async () => {
  await deleteAllDestinations(app);
  // Removes contents that the sweeper would remove a moment later.
  await app.sql('DELETE FROM generation_contents');
  await receiver.close();
});
afterAll(() => app.close());

const destination = (overrides: Partial<NewDestination> = {}) =>
  createDestination(app, { url: receiver.origin }, overrides);

interface CallOptions {
  readonly body?: object;
  readonly key?: string;
}

/** Makes one call and returns the generation's id as the log has it. */
async function call({ body = {}, key = app.apiKey }: CallOptions = {}): Promise<string> {
  const { headers } = await app.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${key}`)
    .set('user-agent', 'canary-agent')
    .send({ model: 'local/hashing', dimensions: 8, input: CANARY, ...body });
  return String(headers['x-generation-id']).replace(
    /^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    '$1-$2-$3-$4-$5',
  );
}

const sent = (): string => receiver.requests.map(({ bytes }) => bytes.toString('utf8')).join('\n');
const contents = () => app.sql<{ ciphertext: Buffer }>('SELECT ciphertext FROM generation_contents');

describe('a call', () => {
  it('is delivered with its input, key and cost', async () => {
    const { id } = await destination();
    const generation = await call({
      body: { user: 'customer-7', session_id: 'session-9', trace: { team: 'search' } },
    });
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([generation]);
    for (const text of [CANARY, 'customer-7', 'session-9', 'search', 'local/hashing', app.key.name])
      expect(sent()).toContain(text);
  });

  it('is delivered with its status when it failed', async () => {
    const { id } = await destination();
    const failed = await call({ body: { model: 'openai/text-embedding-3-small', dimensions: 512 } });
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([failed]);
    expect(sent()).toContain('error.type');
  });

  it('is delivered without vectors', async () => {
    const { id } = await destination();
    const { body } = await app.http
      .post('/api/v1/embeddings')
      .set('authorization', `Bearer ${app.apiKey}`)
      .send({ model: 'local/hashing', dimensions: 8, input: 'words', encoding_format: 'base64' });
    await untilDelivered(app, id, 1);
    expect(sent()).not.toContain(body.data[0].embedding);
  });
});

describe('privacy mode', () => {
  it('withholds the input and all other texts of the caller, and stores none of them', async () => {
    const { id } = await destination({ privacyMode: true, broadcastRequestContext: true });
    await call({ body: { trace: { trace_name: CANARY, [CANARY]: CANARY } } });
    await untilDelivered(app, id, 1);
    expect(sent()).not.toContain('canary');
    expect(sent()).toContain('local/hashing');
    expect(await contents()).toEqual([]);
  });

  it('of one destination does not affect another', async () => {
    const open = await startReceiver(traceCollector);
    const { id } = await destination({ privacyMode: true });
    const { id: openId } = await createDestination(app, { url: open.origin });
    await call();
    await untilDelivered(app, id, 1);
    await untilDelivered(app, openId, 1);
    expect(sent()).not.toContain(CANARY);
    expect(open.requests[0]?.bytes.toString('utf8')).toContain(CANARY);
    await open.close();
  });
});

describe('stored contents', () => {
  it('are encrypted, and removed when the last destination that may need them has passed', async () => {
    receiver.always({ status: 503 });
    const healthy = await startReceiver(traceCollector);
    const { id } = await destination();
    const { id: healthyId } = await createDestination(app, { url: healthy.origin });
    await call();
    await untilDelivered(app, healthyId, 1);
    await eventually(
      () => readCursor(app, id),
      ({ failures }) => failures > 2,
    );
    const [content, ...more] = await contents();
    expect(more).toEqual([]);
    expect(content?.ciphertext.includes(CANARY)).toBe(false);
    receiver.always(null);
    await untilDelivered(app, id, 1);
    await eventually(contents, ({ length }) => length === 0);
    expect(sent()).toContain(CANARY);
    await healthy.close();
  });

  it('do not exist for calls that no destination needs them for', async () => {
    await call();
    expect(await contents()).toEqual([]);
  });
});

describe('the rules of a destination', () => {
  it('forward only traffic of the listed keys', async () => {
    const { secret, record } = await app.createKey();
    const { id } = await destination({ apiKeyHashes: [record.hash] });
    await call();
    const wanted = await call({ key: secret });
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([wanted]);
  });

  it('filter by the input, also in privacy mode without revealing it', async () => {
    const { id } = await destination({
      privacyMode: true,
      filterRules: {
        enabled: true,
        groups: [{ logic: 'and', rules: [{ field: 'input', operator: 'regex', value: '^wanted \\d+$' }] }],
      },
    });
    await call({ body: { input: 'wanted ' } });
    const wanted = await call({ body: { input: 'wanted 7' } });
    await call();
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([wanted]);
    expect(sent()).not.toContain('wanted 7');
  });

  it('sample whole sessions', async () => {
    const { id } = await destination({ samplingRate: 0.5 });
    const { id: all, ...rest } = await createDestination(app, { url: `${receiver.origin}/all` });
    expect(rest.samplingRate).toBe(1);
    const sessions = Array.from({ length: 30 }, (_value, index) => `session-${index}`);
    const calls = await Promise.all(
      [...sessions, ...sessions].map(async (session_id) => ({
        session_id,
        id: await call({ body: { session_id } }),
      })),
    );
    await untilDelivered(app, all, 60);
    await eventually(
      () =>
        app.sql<{ count: number }>(
          `SELECT count(DISTINCT (log_transaction, log_ordinal))::int AS count FROM delivery_cursors WHERE destination_id = ANY($1)`,
          [[id, all]],
        ),
      ([row]) => row?.count === 1,
    );
    const sampled = receiver.requests
      .filter(({ path }) => path === '/')
      .map(({ bytes }) => bytes.toString('utf8'))
      .join();
    const kept = new Set(sessions.filter((session) => sampled.includes(`"${session}"`)));
    expect(kept.size).toBeGreaterThan(3);
    expect(kept.size).toBeLessThan(27);
    expect(Number((await readCursor(app, id)).delivered)).toBe(
      calls.filter(({ session_id }) => kept.has(session_id)).length,
    );
  });
});
