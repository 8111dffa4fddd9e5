// PATCH /observability/destinations/{id}: changed and unchanged members. Rejections have their own file.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DESTINATION_KINDS } from '../../../src/destination-kinds/index.js';
import { DestinationsRepository } from '../../../src/persistence/destinations/destinations.repository.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { deleteAllDestinations, WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const PATH = '/observability/destinations';

interface DestinationRecord extends Record<string, unknown> {
  readonly id: string;
  readonly config: Readonly<Record<string, unknown>>;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => deleteAllDestinations(app));
afterAll(() => app.close());

async function create(body: object = WEBHOOK): Promise<DestinationRecord> {
  return (await askFor<{ data: DestinationRecord }>(201, app, 'post', PATH, { body })).data;
}
async function patch(id: string, body: object): Promise<DestinationRecord> {
  return (await askFor<{ data: DestinationRecord }>(200, app, 'patch', `${PATH}/${id}`, { body })).data;
}
async function storedConfig(id: string): Promise<object | undefined> {
  const destination = await app.application.get(DestinationsRepository).find(app.accountId, id);
  return destination?.config;
}
async function rowOf(id: string): Promise<Record<string, unknown>> {
  const [row] = await app.sql(
    `SELECT d.version, d.needs_content, d.config_ciphertext, c.paused_at, c.failures, c.next_attempt_at,
       c.log_transaction FROM destinations d JOIN delivery_cursors c ON c.destination_id = d.id WHERE d.id = $1`,
    [id],
  );
  return row ?? {};
}
const pause = (id: string) =>
  app.sql(
    `UPDATE delivery_cursors SET paused_at = now(), failures = 7, next_attempt_at = now() + interval '1 hour'
     WHERE destination_id = $1`,
    [id],
  );

describe('an omitted member', () => {
  it('keeps its value; the response equals a later read', async () => {
    const before = await create({
      ...WEBHOOK,
      sampling_rate: 0.5,
      api_key_hashes: [app.key.hash],
      filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'exists' }] }] },
    });
    app.clock.advance(60_000);
    const after = await patch(before.id, {
      name: 'Renamed',
      enabled: false,
      privacy_mode: true,
      broadcast_generation_cost: true,
    });
    expect(after).toEqual({
      ...before,
      name: 'Renamed',
      enabled: false,
      privacy_mode: true,
      broadcast_generation_cost: true,
      updated_at: app.clock.now().toISOString(),
    });
    expect((await askFor<{ data: unknown }>(200, app, 'get', `${PATH}/${before.id}`)).data).toEqual(after);
  });

  it('of a config keeps its value', async () => {
    const { id } = await create({
      type: 'clickhouse',
      name: 'Rows',
      config: {
        host: 'https://ch.example',
        database: 'd',
        username: 'u',
        password: 'correct-horse',
        table: 't',
      },
    });
    const { config } = await patch(id, { config: { database: 'other' } });
    expect(config).toEqual({
      host: 'https://ch.example',
      database: 'other',
      username: 'u',
      password: '********',
      table: 't',
    });
    expect(await storedConfig(id)).toMatchObject({ database: 'other', password: 'correct-horse' });
  });

  it('is removed by null: keys, rules and optional config members', async () => {
    const { id } = await create({
      ...WEBHOOK,
      config: { ...WEBHOOK.config, headers: { 'X-A': 'a' } },
      api_key_hashes: [app.key.hash],
      filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'exists' }] }] },
    });
    const after = await patch(id, { api_key_hashes: null, filter_rules: null, config: { headers: null } });
    expect(after).toMatchObject({ api_key_hashes: null, filter_rules: null });
    expect(after.config).not.toHaveProperty('headers');
  });

  it('keeps its value in an empty change', async () => {
    const before = await create();
    app.clock.advance(60_000);
    expect(await patch(before.id, {})).toEqual(before);
    expect(await rowOf(before.id)).toMatchObject({ version: 1 });
  });
});

describe('a masked value from the record', () => {
  it.each(DESTINATION_KINDS)('keeps the stored value: $type', async ({ type, example }) => {
    const { id, config } = await create({
      type,
      name: type,
      config: { ...example, headers: { 'X-Long': 'a-long-header-value', 'X-Short': 'short' } },
    });
    const before = await storedConfig(id);
    const { config_ciphertext: ciphertext } = await rowOf(id);
    const after = await patch(id, { name: 'Renamed', config });
    expect(after).toMatchObject({ name: 'Renamed', config });
    expect(await storedConfig(id)).toEqual(before);
    // Not even re-encrypted: a paused destination stays paused.
    expect((await rowOf(id))['config_ciphertext']).toEqual(ciphertext);
  });

  it('keeps the stored value beside changed members', async () => {
    const { id, config } = await create({
      type: 'langfuse',
      name: 'Langfuse',
      config: { secretKey: 'sk-lf-0123456789', publicKey: 'pk-lf-9876543210' },
    });
    await patch(id, { config: { ...config, secretKey: 'sk-lf-another-secret' } });
    expect(await storedConfig(id)).toMatchObject({
      secretKey: 'sk-lf-another-secret',
      publicKey: 'pk-lf-9876543210',
    });
  });

  it('keeps the values of masked headers, while headers are replaced as a whole', async () => {
    const { id } = await create({
      ...WEBHOOK,
      config: {
        ...WEBHOOK.config,
        headers: { 'X-Kept': 'a-long-header-value', 'X-Gone': 'gone', 'X-New': 'old' },
      },
    });
    const { config } = await patch(id, {
      config: { headers: { 'X-Kept': 'a-lo...alue', 'X-New': 'new', 'X-More': 'more' } },
    });
    expect(config['headers']).toEqual({ 'X-Kept': 'a-lo...alue', 'X-New': '****', 'X-More': '****' });
    expect(await storedConfig(id)).toMatchObject({
      headers: { 'X-Kept': 'a-long-header-value', 'X-New': 'new', 'X-More': 'more' },
    });
    expect((await patch(id, { config: { headers: {} } })).config['headers']).toEqual({});
  });

  it('keeps the value of a header in another spelling of its name', async () => {
    const headers = { 'x-team': 'a-long-header-value' };
    const { id } = await create({ ...WEBHOOK, config: { ...WEBHOOK.config, headers } });
    const { config } = await patch(id, { config: { headers: { 'X-Team': 'a-lo...alue' } } });
    expect(config['headers']).toEqual({ 'X-Team': 'a-lo...alue' });
    expect(await storedConfig(id)).toMatchObject({ headers: { 'X-Team': 'a-long-header-value' } });
  });

  it('is rejected by name when another request has changed the value, and nothing is stored', async () => {
    const { id, config } = await create({
      type: 'langfuse',
      name: 'Langfuse',
      config: {
        secretKey: 'sk-lf-0123456789',
        publicKey: 'pk-lf-9876543210',
        headers: { 'X-A': 'a-long-header-value', 'X-B': 'kept' },
      },
    });
    const rotated = {
      secretKey: 'sk-lf-another-secret',
      headers: { 'X-A': 'another-header', 'X-B': 'kept' },
    };
    await patch(id, { config: rotated });
    const answer = await ask(app, 'patch', `${PATH}/${id}`, { body: { name: 'Renamed', config } });
    const problem = 'is a mask, which records show in place of a secret; send the secret itself';
    expectError(
      answer,
      400,
      `Invalid request parameters: config.secretKey: ${problem}; config.headers.X-A: ${problem}`,
    );
    expect(await storedConfig(id)).toMatchObject(rotated);
    expect((await askFor<{ data: object }>(200, app, 'get', `${PATH}/${id}`)).data).toMatchObject({
      name: 'Langfuse',
    });
  });
});

describe('a change', () => {
  it('of credentials resumes a paused destination; a new name does not', async () => {
    const { id } = await create({
      ...WEBHOOK,
      config: { ...WEBHOOK.config, headers: { Authorization: 'Bearer wrong-credential' } },
    });
    await pause(id);
    await patch(id, { name: 'Renamed' });
    expect(await rowOf(id)).toMatchObject({ failures: 7, paused_at: expect.any(Date) });
    await patch(id, { config: { headers: { Authorization: 'Bearer right-credential' } } });
    expect(await rowOf(id)).toMatchObject({ failures: 0, paused_at: null, next_attempt_at: null });
  });

  it('to enabled moves the cursor to the end of the log', async () => {
    const { id } = await create();
    await patch(id, { enabled: false });
    await app.sql('UPDATE delivery_cursors SET log_transaction = 1 WHERE destination_id = $1', [id]);
    await pause(id);
    expect((await patch(id, { enabled: true }))['enabled']).toBe(true);
    const row = await rowOf(id);
    expect(row).toMatchObject({ failures: 0, paused_at: null });
    expect(Number(row['log_transaction'])).toBeGreaterThan(1);
  });

  it('of the rules updates whether contents are needed', async () => {
    const { id } = await create();
    expect(await rowOf(id)).toMatchObject({ needs_content: true });
    await patch(id, { privacy_mode: true });
    expect(await rowOf(id)).toMatchObject({ needs_content: false });
    await patch(id, {
      filter_rules: { groups: [{ rules: [{ field: 'input', operator: 'contains', value: 'x' }] }] },
    });
    expect(await rowOf(id)).toMatchObject({ needs_content: true });
    await patch(id, { filter_rules: null });
    expect(await rowOf(id)).toMatchObject({ needs_content: false });
  });

  it('returns 409 when it loses against a concurrent one, and every change with 200 is kept', async () => {
    const { id } = await create();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_value, index) =>
        ask(app, 'patch', `${PATH}/${id}`, { body: { config: { headers: { [`X-${index}`]: 'value' } } } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    const won = statuses.filter((status) => status === 200).length;
    expect(won).toBeGreaterThan(0);
    expect(statuses.filter((status) => status === 409)).toHaveLength(12 - won);
    expect(await rowOf(id)).toMatchObject({ version: 1 + won });
  });

  it('returns 409 when the destination changed since it was read', async () => {
    const { id } = await create();
    const repository = app.application.get(DestinationsRepository);
    const before = (await repository.find(app.accountId, id))!;
    await patch(id, { name: 'First' });
    const second = await repository.update(before, { name: 'Second' }, () => {
      throw new Error('nothing happened that could be described');
    });
    expect(second).toBeNull();
    expect((await repository.find(app.accountId, id))?.name).toBe('First');
  });
});
