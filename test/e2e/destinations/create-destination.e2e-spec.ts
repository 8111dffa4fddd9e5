// POST /observability/destinations: created records and authorization. Rejected bodies (400) and the limit (409) have
// their own files.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readAppConfig } from '../../../src/config/app-config.js';
import { DESTINATION_KINDS } from '../../../src/destination-kinds/index.js';
import { ConfigCipher } from '../../../src/persistence/encryption/config-cipher.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { CONTRACT_KINDS, shownConfig } from '../../support/deliveries/contract-kinds.js';
import {
  deleteAllDestinations,
  DESTINATIONS,
  post,
  WEBHOOK,
} from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOW = '2026-11-18T12:00:00.000Z';

const SPELLINGS = CONTRACT_KINDS.flatMap((kind) =>
  [kind.type, kind.neutralType].filter((type) => type !== null).map((type) => ({ type, kind })),
);

interface StoredDestination {
  id: string;
  kind: string;
  type: string;
  slot: number | null;
  config_ciphertext: Buffer;
  config_encryption_key_id: string;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => deleteAllDestinations(app));
afterAll(() => app.close());

async function createdRecord(members: object): Promise<Record<string, unknown>> {
  const response = await post(app, { ...WEBHOOK, ...members });
  expect(response.status).toBe(201);
  return (response.body as { data: Record<string, unknown> }).data;
}

describe('201', () => {
  it.each(SPELLINGS)(
    'creates a destination of type $type with a full record, defaults and masked secrets',
    async ({ type, kind }) => {
      const example = DESTINATION_KINDS.find((candidate) => candidate.type === kind.type)!.example;
      const response = await post(app, { type, name: 'Production traces', config: example });
      expect({ status: response.status, body: response.body as unknown }).toEqual({
        status: 201,
        body: {
          data: {
            id: expect.stringMatching(UUID),
            workspace_id: app.workspaceId,
            name: 'Production traces',
            type,
            config: shownConfig(kind, example),
            enabled: true,
            privacy_mode: false,
            broadcast_generation_cost: false,
            broadcast_generation_identity: false,
            broadcast_generation_request_context: false,
            sampling_rate: 1,
            api_key_hashes: null,
            filter_rules: null,
            regions: ['global'],
            created_at: NOW,
            updated_at: NOW,
          },
        },
      });
      expect(response.headers['content-type']).toMatch(/^application\/json/);
    },
  );

  it('returns every member as it was sent', async () => {
    const members = {
      name: '',
      enabled: false,
      privacy_mode: true,
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
      sampling_rate: 0.0001,
      api_key_hashes: [app.key.hash],
      filter_rules: { enabled: false, groups: [] },
      regions: ['us'],
      workspace_id: app.workspaceId,
    };
    expect(await createdRecord(members)).toMatchObject(members);
  });

  it('accepts null for all keys and for no filter', async () => {
    expect(await createdRecord({ api_key_hashes: null, filter_rules: null })).toMatchObject({
      api_key_hashes: null,
      filter_rules: null,
    });
  });

  it('keeps a given value of a config field with a default, even an empty one', async () => {
    const record = await createdRecord({
      type: 'langsmith',
      config: { apiKey: 'lsv2_pt_0123456789abcdef', endpoint: '', project: 'mine', workspaceId: 'team' },
    });
    expect(record['config']).toEqual({
      apiKey: 'lsv2...cdef',
      endpoint: '',
      project: 'mine',
      parentSpans: 'root',
      workspaceId: 'team',
    });
  });

  it('shows four characters at each end of secrets of at least 12, and none of shorter ones', async () => {
    const keysOf = async (secretKey: string, publicKey: string) =>
      (await createdRecord({ type: 'langfuse', config: { secretKey, publicKey, baseUrl: 'x' } }))['config'];
    expect(await keysOf('123456789012', '12345678901')).toEqual({
      secretKey: '1234...9012',
      publicKey: '****',
      baseUrl: 'x',
      parentSpans: 'root',
    });
  });

  it('shows nothing of passwords, not even their length', async () => {
    const passwordOf = async (password: string) =>
      (
        await createdRecord({
          type: 'clickhouse',
          config: { host: 'h', database: 'd', username: 'u', password },
        })
      )['config'];
    const shown = {
      host: 'h',
      database: 'd',
      username: 'u',
      password: '********',
      table: 'OPENROUTER_TRACES',
    };
    expect(await passwordOf('x')).toEqual(shown);
    expect(await passwordOf('a password of many characters')).toEqual(shown);
  });

  it('masks header values, not their names', async () => {
    const headers = { Authorization: 'Bearer 0123456789', 'X-Team': 'platform', 'x-empty': '' };
    const record = await createdRecord({ config: { url: 'https://example.com', headers } });
    expect(record['config']).toEqual({
      url: 'https://example.com',
      method: 'POST',
      parentSpans: 'link',
      headers: { Authorization: 'Bear...6789', 'X-Team': '****', 'x-empty': '****' },
    });
  });

  it('encrypts the stored config and stores the id of its encryption key', async () => {
    const config = {
      secretKey: 'sk-lf-very-secret-value',
      publicKey: 'pk-lf-less-secret-value',
      baseUrl: 'https://eu.cloud.langfuse.com',
      headers: { 'x-secret': 'header-secret-value' },
    };
    const { id } = await createdRecord({ type: 'kind_06', config });
    const [row] = await app.sql<StoredDestination>('SELECT * FROM destinations WHERE id = $1', [id]);
    const [wholeRow] = await app.sql<{ text: string }>(
      `SELECT destinations::text || encode(config_ciphertext, 'escape') AS text FROM destinations WHERE id = $1`,
      [id],
    );
    for (const secret of ['very-secret', 'less-secret', 'header-secret', 'langfuse.com', 'secretKey']) {
      expect(wholeRow!.text).not.toContain(secret);
    }
    const [key] = readAppConfig(
      { DATABASE_URL: 'postgresql://nowhere.invalid/none', ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY },
      [],
    ).encryptionKeys;
    expect(row).toMatchObject({ kind: 'langfuse', type: 'kind_06', config_encryption_key_id: key!.id });
    const encrypted = {
      ciphertext: Uint8Array.from(row!.config_ciphertext),
      encryptionKeyId: row!.config_encryption_key_id,
    };
    expect(app.application.get(ConfigCipher).decrypt(encrypted, row!.id)).toEqual({
      ...config,
      parentSpans: 'root',
    });
  });

  it('sets defaults of filter rules, and keeps an absent value absent', async () => {
    const record = await createdRecord({
      filter_rules: {
        groups: [
          { rules: [{ field: 'session_id', operator: 'exists' }] },
          {
            logic: 'or',
            rules: [
              { field: 'total_cost', operator: 'gte', value: 0.5 },
              { field: 'prompt_tokens', operator: 'lt', value: '100' },
              { field: 'model', operator: 'regex', value: '^openai/(?:text|gpt)' },
              { field: 'user_id', operator: 'equals', value: '' },
            ],
          },
          { logic: 'and', rules: [] },
        ],
      },
    });
    expect(record['filter_rules']).toStrictEqual({
      enabled: true,
      groups: [
        { logic: 'and', rules: [{ field: 'session_id', operator: 'exists' }] },
        {
          logic: 'or',
          rules: [
            { field: 'total_cost', operator: 'gte', value: 0.5 },
            { field: 'prompt_tokens', operator: 'lt', value: '100' },
            { field: 'model', operator: 'regex', value: '^openai/(?:text|gpt)' },
            { field: 'user_id', operator: 'equals', value: '' },
          ],
        },
        { logic: 'and', rules: [] },
      ],
    });
  });

  it('stores the region eu as europe, and each region once', async () => {
    expect(await createdRecord({ regions: ['eu'] })).toMatchObject({ regions: ['europe'] });
    const { regions } = await createdRecord({ regions: ['us', 'eu', 'global', 'europe', 'us'] });
    expect((regions as string[]).toSorted()).toEqual(['europe', 'global', 'us']);
  });

  it('accepts another workspace of the account, also in upper case', async () => {
    const workspaceId = '01934b2c-0000-7000-8000-00000000abcd';
    await app.sql(`INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, 'Second', 'second')`, [
      workspaceId,
      app.accountId,
    ]);
    expect(await createdRecord({ workspace_id: workspaceId })).toMatchObject({ workspace_id: workspaceId });
    expect(await createdRecord({ workspace_id: workspaceId.toUpperCase() })).toMatchObject({
      workspace_id: workspaceId,
    });
  });

  it('creates in the default workspace of each account', async () => {
    const other = await app.createAccount();
    const response = await post(app, WEBHOOK, other.managementKey);
    expect(response.body).toMatchObject({ data: { workspace_id: other.workspaceId } });
  });

  it('stores a key once that the allowlist names twice', async () => {
    const hashes = [app.key.hash, app.key.hash];
    expect(await createdRecord({ api_key_hashes: hashes })).toMatchObject({ api_key_hashes: [app.key.hash] });
  });
});

describe('401', () => {
  it('is returned without a credential', async () => {
    const response = await app.http.post(DESTINATIONS).send(WEBHOOK);
    expectError(response, 401, 'Missing Authentication header');
  });

  it('is returned for an unknown key', async () => {
    expectError(await post(app, WEBHOOK, 'sk-sb-v1-unknown'), 401, 'Invalid credentials');
  });

  it('is returned for a missing credential even with a malformed body', async () => {
    const response = await app.http.post(DESTINATIONS).set('content-type', 'text/plain').send('{');
    expectError(response, 401, 'Missing Authentication header');
  });
});

describe('403', () => {
  it('is returned for an inference key', async () => {
    expectError(await post(app, WEBHOOK, app.apiKey), 403, 'Only management keys can perform this operation');
  });

  it('is returned for the wrong kind of key even with a malformed body', async () => {
    expectError(await post(app, '{', app.apiKey), 403, 'Only management keys can perform this operation');
  });
});

describe('413', () => {
  it('is returned for a body above 1 MiB; a body of exactly that size is read', async () => {
    const withName = (length: number) => JSON.stringify({ ...WEBHOOK, name: 'x'.repeat(length) });
    const overhead = withName(0).length;
    expectError(
      await post(app, withName(2 ** 20 - overhead + 1)),
      413,
      'Request payload too large: the limit is 1048576 bytes',
    );
    expectError(
      await post(app, withName(2 ** 20 - overhead)),
      400,
      'Invalid request parameters: name: must have at most 1000 characters',
    );
  });
});
