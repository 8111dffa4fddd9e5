// POST /observability/destinations: rejected bodies. Every message names the member at fault, and none shows a value.
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import {
  expectInvalidRequest,
  expectNothingStored,
  WEBHOOK,
} from '../../support/requests/create-destination.js';

const SECRET = 'do-not-show-this-secret';
const LANGFUSE = { type: 'langfuse', name: 'Traces', config: { secretKey: SECRET, publicKey: SECRET } };
const UNKNOWN_HASH = 'ab'.repeat(32);

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(async () => {
  await expectNothingStored(app);
  await app.close();
});

const webhookWith = (members: object) => ({ ...WEBHOOK, ...members });
const expectRejection = (body: object | string, detail: string | RegExp) =>
  expectInvalidRequest(app, body, detail, SECRET);

describe('400 type, name and flags', () => {
  it('names every missing required member', async () => {
    await expectRejection(
      {},
      /type: must be one of arize, braintrust, .*; name: must be a string; config: must be an object$/,
    );
  });

  it.each([
    ['unknown'],
    ['Langfuse'],
    [''],
    [null],
    [7],
    [['webhook']],
    [{}],
    [{ toString: 1 }],
    ['__proto__'],
    ['kind_16'],
  ])('rejects the type %j', async (type) => {
    await expectRejection(webhookWith({ type }), /: type: must be one of|: type\.toString: /);
  });

  it('does not report the config of an unknown type', async () => {
    await expectRejection(webhookWith({ type: 'unknown' }), /webhook$/);
  });

  it.each([
    [null, 'must be a string'],
    [7, 'must be a string'],
    [['x'], 'must be a string'],
    [{ first: 'x' }, 'must be a string'],
    ['x'.repeat(1001), 'must have at most 1000 characters'],
    ['nul \0', 'must not hold NUL or half a surrogate pair'],
    ['half a pair \ud800', 'must not hold NUL or half a surrogate pair'],
  ])('rejects the name %j', async (name, problem) => {
    await expectRejection(webhookWith({ name }), `name: ${problem}`);
  });

  it.each(['nul \0', 'half a pair \ud800'])('rejects a config with the text %j', async (mlApp) => {
    const config = { apiKey: '0123456789abcdef', mlApp };
    await expectRejection(
      webhookWith({ type: 'datadog', config }),
      'config.mlApp: must not hold NUL or half a surrogate pair',
    );
  });

  it.each([
    [{ type: 'datadog', config: { apiKey: 'dd-0...6789', mlApp: 'x' } }, 'config.apiKey'],
    [{ type: 'datadog', config: { apiKey: '****', mlApp: 'x' } }, 'config.apiKey'],
    [
      {
        type: 'clickhouse',
        config: { host: 'https://ch.example', database: 'd', username: 'u', password: '********' },
      },
      'config.password',
    ],
    [
      {
        type: 'clickhouse',
        config: { host: 'https://ch.example', database: 'd', username: 'u', password: 'pass...word' },
      },
      'config.password',
    ],
    ...['****', '********', 'abcd...wxyz', 'Bearer sk-l...ghij', 'sk-sb-v1-0e6...1c96'].map(
      (mask): [object, string] => [
        { config: { ...WEBHOOK.config, headers: { 'X-Team': mask } } },
        'config.headers.X-Team',
      ],
    ),
  ])('rejects a mask instead of a secret: %j', async (body, name) => {
    await expectRejection(
      webhookWith(body),
      `${name}: is a mask, which records show in place of a secret; send the secret itself`,
    );
  });

  it.each([
    'enabled',
    'privacy_mode',
    'broadcast_generation_cost',
    'broadcast_generation_identity',
    'broadcast_generation_request_context',
  ])('rejects a word, a number and null for the flag %s', async (flag) => {
    for (const value of ['true', 1, null, []]) {
      await expectRejection(webhookWith({ [flag]: value }), `${flag}: must be a boolean`);
    }
  });

  it('names every unknown member', async () => {
    await expectRejection(
      webhookWith({ privacy_mod: true, ids: 'x' }),
      'privacy_mod: is not a member of this object; ids: is not a member of this object',
    );
  });

  it('reports the first five of many problems', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 9 }, (_value, index) => [`member${index}`, 1]));
    await expectRejection(webhookWith(unknown), /member4: is not a member of this object; and 4 more$/);
  });
});

describe('400 sampling_rate, api_key_hashes, regions, workspace_id', () => {
  it.each([
    [0, 'at least 0.0001'],
    [0.00009, 'at least 0.0001'],
    [-1, 'at least 0.0001'],
    [1.0001, 'at most 1'],
    ['1', 'a number'],
    [null, 'a number'],
    [[1], 'a number'],
  ])('rejects the sampling rate %j', async (rate, problem) => {
    await expectRejection(webhookWith({ sampling_rate: rate }), `sampling_rate: must be ${problem}`);
  });

  it('rejects a sampling rate beyond every number', async () => {
    const body = JSON.stringify(webhookWith({ sampling_rate: 0 })).replace('_rate":0', '_rate":1e400');
    await expectRejection(body, 'sampling_rate: must be a number');
  });

  it.each([
    [[], 'must have at least 1 element, or be null for all keys'],
    ['x', 'must be an array or null'],
    [{ 0: UNKNOWN_HASH }, 'must be an array or null'],
    [[null], 'must hold key hashes of 64 lower-case hexadecimal digits'],
    [[UNKNOWN_HASH.toUpperCase()], 'must hold key hashes of 64 lower-case hexadecimal digits'],
    [Array.from({ length: 101 }, () => UNKNOWN_HASH), 'must have at most 100 elements'],
    [[UNKNOWN_HASH], `no such key: ${UNKNOWN_HASH}`],
  ])('rejects the key hashes %#', async (hashes, problem) => {
    await expectRejection(webhookWith({ api_key_hashes: hashes }), `api_key_hashes: ${problem}`);
  });

  it('names the unknown ones of several hashes, including deleted keys and keys of another account', async () => {
    const other = await app.createAccount();
    const deleted = await app.createKey();
    await app.sql('UPDATE api_keys SET deleted_at = now() WHERE hash = $1', [deleted.record.hash]);
    await expectRejection(
      webhookWith({ api_key_hashes: [app.key.hash, other.key.hash, deleted.record.hash] }),
      `api_key_hashes: no such key: ${other.key.hash}, ${deleted.record.hash}`,
    );
  });

  it.each([
    [[], 'must have at least 1 element'],
    ['us', 'must be an array'],
    [null, 'must be an array'],
    [['us', 'mars'], 'must hold only global, europe, us, eu'],
    [[['eu']], 'must hold only global, europe, us, eu'],
  ])('rejects the regions %j', async (regions, problem) => {
    await expectRejection(webhookWith({ regions }), `regions: ${problem}`);
  });

  it.each([['default'], [null], [7], ['']])('rejects the workspace %j', async (workspaceId) => {
    await expectRejection(webhookWith({ workspace_id: workspaceId }), 'workspace_id: must be a UUID');
  });

  it('reports the workspace of another account like one that does not exist', async () => {
    const other = await app.createAccount();
    for (const workspaceId of [other.workspaceId, '01934b2c-0000-7000-8000-000000000000']) {
      await expectRejection(webhookWith({ workspace_id: workspaceId }), 'workspace_id: no such workspace');
    }
  });
});

describe('400 config', () => {
  it.each([[null], [[]], ['x'], [7], [[{ url: 'x' }]]])('rejects the config %j', async (config) => {
    await expectRejection(webhookWith({ config }), 'config: must be an object');
  });

  it('names an empty, a missing and a wrong value by their path', async () => {
    const { secretKey } = LANGFUSE.config;
    await expectRejection(
      { ...LANGFUSE, config: { secretKey: '', publicKey: '' } },
      'config.secretKey: must not be empty; config.publicKey: must not be empty',
    );
    await expectRejection({ ...LANGFUSE, config: { secretKey } }, 'config.publicKey: must be a string');
    await expectRejection(
      { ...LANGFUSE, config: { secretKey, publicKey: [SECRET] } },
      'config.publicKey: must be a string',
    );
    await expectRejection(
      { ...LANGFUSE, config: { ...LANGFUSE.config, baseUrl: null } },
      'config.baseUrl: must be a string',
    );
  });

  it('names unknown members and those of another kind', async () => {
    await expectRejection(
      { ...LANGFUSE, config: { ...LANGFUSE.config, apiKey: SECRET } },
      'config.apiKey: is not a member of this object',
    );
    await expectRejection(
      { ...LANGFUSE, config: { ...LANGFUSE.config, secretkey: SECRET } },
      'config.secretkey: is not a member of this object',
    );
  });

  it.each([
    [
      { type: 'newrelic', config: { licenseKey: SECRET, region: 'US' } },
      'config.region: must be one of us, eu',
    ],
    [webhookWith({ config: { url: 'x', method: 'post' } }), 'config.method: must be one of POST, PUT'],
    [
      { type: 'sentry', config: { dsn: `http://${SECRET}@host/1`, otlpEndpoint: '' } },
      'config.dsn: must be a DSN: https://<public key>@<host>/<project id>',
    ],
    [
      { type: 'snowflake', config: { account: 'my..account', token: SECRET } },
      'config.account: must be letters, digits and underscores, joined by single dots or hyphens',
    ],
    [
      { type: 'snowflake', config: { account: 'a'.repeat(256), token: SECRET } },
      'config.account: must have at most 255 characters',
    ],
    [
      {
        type: 's3',
        config: { bucketName: 'b', accessKeyId: SECRET, secretAccessKey: SECRET, endpoint: SECRET },
      },
      'config.endpoint: must be an absolute http or https URI',
    ],
  ])('rejects a value of the wrong form: %#', async (body, detail) => {
    await expectRejection({ name: 'x', ...body }, detail);
  });

  it.each([
    [null, 'must be an object of strings'],
    [['x'], 'must be an object of strings'],
    ['x', 'must be an object of strings'],
    [{ 'X-Team': 7 }, 'the value of X-Team must be a string'],
    [{ 'X-Team': null }, 'the value of X-Team must be a string'],
    [{ 'X Team': 'x' }, 'has a member whose name is not a valid header name'],
    [{ '': 'x' }, 'has a member whose name is not a valid header name'],
    [{ [`${SECRET}:`]: 'x' }, 'has a member whose name is not a valid header name'],
    [{ 'X-Team': `${SECRET}\r\nX-Evil: 1` }, 'the value of X-Team has characters that a header cannot hold'],
    [{ 'X-Team': `${SECRET}\u2028` }, 'the value of X-Team has characters that a header cannot hold'],
    [{ Host: 'example.com' }, 'must not set Host'],
    [{ 'content-LENGTH': '1' }, 'must not set content-LENGTH'],
    [{ Expect: '100-continue' }, 'must not set Expect'],
    [{ 'keep-alive': 'timeout=5' }, 'must not set keep-alive'],
    [{ Upgrade: 'h2c' }, 'must not set Upgrade'],
    [{ TE: 'trailers' }, 'must not set TE'],
    [{ 'WebHook-ID': 'msg_1' }, 'must not set WebHook-ID: requests to this platform set it themselves'],
    [
      { 'webhook-timestamp': '1' },
      'must not set webhook-timestamp: requests to this platform set it themselves',
    ],
    [
      { 'Webhook-Signature': 'v1,x' },
      'must not set Webhook-Signature: requests to this platform set it themselves',
    ],
    [
      { 'Content-Type': 'text/plain' },
      'must not set Content-Type: requests to this platform set it themselves',
    ],
    [
      Object.fromEntries(Array.from({ length: 65 }, (_value, index) => [`x-${index}`, ''])),
      'must have at most 64 members',
    ],
  ])('rejects the headers %#', async (headers, problem) => {
    await expectRejection(webhookWith({ config: { url: 'x', headers } }), `config.headers: ${problem}`);
  });
});
