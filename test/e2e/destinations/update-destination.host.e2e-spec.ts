// PATCH /observability/destinations/{id}: a destination that moves to another host takes no stored secret with it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DESTINATION_KINDS, requireDestinationKind } from '../../../src/destination-kinds/index.js';
import { DestinationsRepository } from '../../../src/persistence/destinations/destinations.repository.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { CONTRACT_KINDS } from '../../support/deliveries/contract-kinds.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const PATH = '/observability/destinations';
const ELSEWHERE = 'https://receiver.example.net';
const HEADERS = { 'X-Token': 'a-long-header-value', 'X-Team': 'short' };
const REJECTION =
  'Invalid request parameters: config: the change moves the destination to another host; send its secrets again: ';

/** The change that moves a destination of each kind: an address, or a member of its host name. Null: none does. */
const MOVES: Readonly<Record<string, Readonly<Record<string, string>> | null>> = {
  arize: { baseUrl: ELSEWHERE },
  braintrust: { baseUrl: ELSEWHERE },
  clickhouse: { host: ELSEWHERE },
  datadog: { url: ELSEWHERE },
  grafana: { baseUrl: ELSEWHERE },
  langfuse: { baseUrl: ELSEWHERE },
  langsmith: { endpoint: ELSEWHERE },
  newrelic: { region: 'eu' },
  opik: null,
  'otel-collector': { endpoint: ELSEWHERE },
  posthog: { endpoint: ELSEWHERE },
  ramp: { baseUrl: ELSEWHERE },
  s3: { endpoint: ELSEWHERE },
  // On another host of the same DSN.
  sentry: { otlpEndpoint: 'https://o1.ingest.us.sentry.io/api/42/integration/otlp/v1/traces' },
  snowflake: { account: 'other-account' },
  weave: { baseUrl: ELSEWHERE },
  webhook: { url: `${ELSEWHERE}/traces` },
};

interface DestinationRecord {
  readonly id: string;
  readonly config: Readonly<Record<string, unknown>>;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => deleteAllDestinations(app));
afterAll(() => app.close());

async function create(type: string, config: object): Promise<DestinationRecord> {
  const body = { type, name: type, config };
  return (await askFor<{ data: DestinationRecord }>(201, app, 'post', PATH, { body })).data;
}
const patch = (id: string, config: object) => ask(app, 'patch', `${PATH}/${id}`, { body: { config } });
async function storedConfig(id: string): Promise<object | undefined> {
  return (await app.application.get(DestinationsRepository).find(app.accountId, id))?.config;
}

it('the table names the move of every kind', () => {
  expect(Object.keys(MOVES)).toEqual(DESTINATION_KINDS.map(({ type }) => type));
  expect(CONTRACT_KINDS.map(({ type }) => type)).toEqual(Object.keys(MOVES));
});

describe.each(CONTRACT_KINDS)('$type', ({ type, secrets }) => {
  const { example } = requireDestinationKind(type);
  const move = MOVES[type] ?? {};
  const secretsGiven = Object.fromEntries(
    Object.entries(example).filter(([field]) => secrets.includes(field)),
  );
  const named = [...Object.keys(secretsGiven), ...Object.keys(HEADERS).map((name) => `headers.${name}`)];

  if (MOVES[type] === null) {
    it('always sends to the same host', async () => {
      const { delivery, configClass } = requireDestinationKind(type);
      expect(delivery.addresses(new configClass())).toEqual(delivery.addresses({ ...example }));
    });
    return;
  }

  it('rejects a move with stored secrets and names them, whether they are omitted or masked', async () => {
    const { id, config } = await create(type, { ...example, headers: HEADERS });
    const before = await storedConfig(id);
    for (const change of [
      move,
      { ...config, ...move },
      { ...move, headers: { ...(config['headers'] as object) } },
    ]) {
      expectError(await patch(id, change), 400, new RegExp(`^${REJECTION}`));
      const { error } = (await patch(id, change)).body as { error: { message: string } };
      expect(error.message.slice(REJECTION.length).split(', ').toSorted()).toEqual(named.toSorted());
    }
    expect(await storedConfig(id)).toEqual(before);
  });

  it('moves with secrets that are sent again, and without those that are removed', async () => {
    const { id } = await create(type, { ...example, headers: HEADERS });
    const change = { ...move, ...secretsGiven, headers: { 'X-Token': 'another-header-value' } };
    expect((await patch(id, change)).status).toBe(200);
    expect(await storedConfig(id)).toMatchObject(change);
  });
});

describe('a host', () => {
  const config = { url: 'https://hooks.example.com/one', headers: HEADERS };

  it.each([
    ['another scheme', 'http://hooks.example.com/one'],
    ['another port', 'https://hooks.example.com:8443/one'],
    ['another name', 'https://hooks.example.com.evil.example/one'],
    ['a subdomain', 'https://a.hooks.example.com/one'],
    ['an address without a scheme', 'evil.example/one'],
  ])('is another one with %s', async (_what, url) => {
    const { id } = await create('webhook', config);
    expectError(await patch(id, { url }), 400, `${REJECTION}headers.X-Token, headers.X-Team`);
  });

  it.each([
    ['another path', 'https://hooks.example.com/two'],
    ['its port by default', 'https://hooks.example.com:443/one'],
    ['capital letters', 'HTTPS://HOOKS.example.com/one'],
    ['no scheme', 'hooks.example.com/one'],
  ])('is the same with %s', async (_what, url) => {
    const { id } = await create('webhook', config);
    expect((await patch(id, { url })).status).toBe(200);
    expect(await storedConfig(id)).toMatchObject({ url, headers: HEADERS });
  });

  it('changes freely without stored secrets', async () => {
    const { id } = await create('webhook', { url: config.url });
    expect((await patch(id, { url: `${ELSEWHERE}/two` })).status).toBe(200);
  });

  it('requires the secrets after a step without an address', async () => {
    const { id } = await create('webhook', config);
    expectError(await patch(id, { url: '' }), 400, `${REJECTION}headers.X-Token, headers.X-Team`);
  });
});

describe('an address that may hold a credential', () => {
  const url = 'https://hooks.example.com:8443/services/T0001/s3cret-path-token?token=s3cret-query';
  const shown = 'https://hooks.example.com:8443/****';

  it.each([
    ['webhook', 'url', {}],
    ['otel-collector', 'endpoint', {}],
    ['ramp', 'baseUrl', { apiKey: 'ramp_0123456789abcdef' }],
  ])('is shown by its host in records, lists and the audit log: %s', async (type, field, rest) => {
    const { id, config } = await create(type, { ...rest, [field]: url });
    expect(config[field]).toBe(shown);
    const changed = url.replaceAll('s3cret', 's3cret-2');
    const after = (await patch(id, { [field]: changed })).body as { data: DestinationRecord };
    expect(after.data.config[field]).toBe(shown);
    await askFor(200, app, 'delete', `${PATH}/${id}`);
    const entries = await app.sql('SELECT before, after FROM audit_log WHERE object_id = $1', [id]);
    expect(entries).toHaveLength(3);
    expect(JSON.stringify(entries)).toContain(shown);
    expect(JSON.stringify(entries)).not.toContain('s3cret');
  });

  it('is masked in entries of the audit log that were stored in clear', async () => {
    const { id } = await create('webhook', { url });
    await app.sql(
      `INSERT INTO audit_log SELECT (json_populate_record(entry, json_build_object(
         'id', gen_random_uuid(), 'after', jsonb_set(entry.after, '{config,url}', to_jsonb($2::text))))).*
       FROM audit_log AS entry WHERE object_id = $1`,
      [id, url],
    );
    const { data } = await askFor<{ data: readonly { after: DestinationRecord }[] }>(
      200,
      app,
      'get',
      `/audit?object_id=${id}`,
    );
    expect(data.map(({ after }) => after.config['url'])).toEqual([shown, shown]);
  });

  it('keeps its value when it is sent back as shown', async () => {
    const { id, config } = await create('webhook', { url });
    expect((await patch(id, { ...config, method: 'PUT' })).status).toBe(200);
    expect(await storedConfig(id)).toEqual({ url, method: 'PUT', parentSpans: 'link' });
  });

  it('cannot be set to the mask of another one, nor created from a mask', async () => {
    const problem =
      'Invalid request parameters: config.url: is a mask, which records show in place of a secret; send the secret itself';
    const { id } = await create('webhook', { url });
    expectError(await patch(id, { url: 'https://other.example.com/****' }), 400, problem);
    const body = { type: 'webhook', name: 'Copy', config: { url: shown } };
    expectError(await ask(app, 'post', PATH, { body }), 400, problem);
    expect(await storedConfig(id)).toMatchObject({ url });
  });

  it('shows the path of a platform address, and hides its query', async () => {
    const baseUrl = 'https://gateway.example.com/langfuse?token=s3cret';
    const keys = { secretKey: 'sk-lf-0123456789', publicKey: 'pk-lf-9876543210' };
    const { id, config } = await create('langfuse', { ...keys, baseUrl });
    expect(config['baseUrl']).toBe('https://gateway.example.com/langfuse?****');
    expect((await patch(id, { ...config, secretKey: 'sk-lf-another-one' })).status).toBe(200);
    expect(await storedConfig(id)).toMatchObject({ baseUrl });
  });
});
