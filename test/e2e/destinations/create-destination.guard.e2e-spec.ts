// POST /observability/destinations: forbidden addresses.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import {
  deleteAllDestinations,
  expectInvalidRequest,
  expectNothingStored,
  post,
  WEBHOOK,
} from '../../support/requests/create-destination.js';
import { ScriptedResolver } from '../../support/app/name-resolver.js';

const webhookTo = (url: string) => ({ ...WEBHOOK, config: { url } });
const SECRET = 'sk-very-secret-value';

/** Every field of every kind that names a host, set to this address. */
const configsWith = (origin: string): [type: string, config: object][] => [
  ['arize', { apiKey: SECRET, spaceKey: SECRET, modelId: 'm', baseUrl: origin }],
  ['braintrust', { apiKey: SECRET, projectId: 'p', baseUrl: origin }],
  ['clickhouse', { host: origin, database: 'd', username: 'u', password: SECRET }],
  ['datadog', { apiKey: SECRET, mlApp: 'a', url: origin }],
  ['grafana', { apiKey: SECRET, instanceId: '1', baseUrl: origin }],
  ['langfuse', { secretKey: SECRET, publicKey: SECRET, baseUrl: origin }],
  ['langsmith', { apiKey: SECRET, endpoint: origin }],
  ['otel-collector', { endpoint: `${origin}/v1/traces` }],
  ['posthog', { apiKey: SECRET, endpoint: origin }],
  ['ramp', { apiKey: SECRET, baseUrl: origin }],
  ['s3', { bucketName: 'b', accessKeyId: SECRET, secretAccessKey: SECRET, endpoint: origin }],
  ['sentry', { dsn: `https://key@${new URL(origin).host}/42`, otlpEndpoint: `${origin}/v1/traces` }],
  ['weave', { apiKey: SECRET, entity: 'e', project: 'p', baseUrl: origin }],
  ['webhook', { url: `${origin}/hook?token=${SECRET}` }],
];

describe('addresses without permitted ranges', () => {
  let app: TestApp;
  const resolver = new ScriptedResolver()
    .script('inside.example', ['10.0.0.7'])
    .script('mixed.example', ['93.184.216.34', '127.0.0.1'])
    .script('outside.example', ['93.184.216.34']);
  beforeAll(async () => {
    app = await createTestApp({ environment: { DESTINATION_ALLOWED_CIDRS: '' }, resolver });
  });
  afterEach(() => deleteAllDestinations(app));
  afterAll(() => app.close());

  it.each(configsWith('https://169.254.169.254'))(
    'return 400 for a %s with the address of the metadata service',
    async (type, config) => {
      await expectInvalidRequest(
        app,
        { type, name: 'x', config },
        /config: (?:\S+\.)?169\.254\.169\.254 is a link-local address$/,
        SECRET,
      );
      await expectNothingStored(app);
    },
  );

  it.each([
    ['https://127.0.0.1/', '127.0.0.1 is a loopback address'],
    ['https://2130706433/', '127.0.0.1 is a loopback address'],
    ['https://[::ffff:10.0.0.1]:8443/', '::ffff:a00:1 is a private address'],
    ['https://inside.example/', 'inside.example leads to a private address'],
    ['https://mixed.example/', 'mixed.example leads to a loopback address'],
    ['http://outside.example/', 'outside.example needs https'],
    ['http://unknown.example/', 'unknown.example needs https'],
    [`https://user:${SECRET}@outside.example/`, 'outside.example must not have a user name or password'],
    [`https://${SECRET} .example/`, 'an address is not an absolute http or https URL'],
  ])('return 400: %s', async (url, problem) => {
    await expectInvalidRequest(app, webhookTo(url), `config: ${problem}`, SECRET);
    await expectNothingStored(app);
  });

  it('return 400 when they are too long', async () => {
    const url = `https://outside.example/${SECRET}`.padEnd(2_049, 'x');
    await expectInvalidRequest(
      app,
      webhookTo(url),
      'config: an address has more than 2048 characters',
      SECRET,
    );
  });

  it.each([
    'https://outside.example/',
    'https://93.184.216.34/',
    'https://unknown.example/',
    'outside.example/hook',
    '',
    'https://',
  ])('return 201 for %j', async (url) => {
    expect((await post(app, webhookTo(url))).status).toBe(201);
  });
});

describe('addresses within a permitted range', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({
      environment: { DESTINATION_ALLOWED_CIDRS: '10.0.0.0/8, fd00::/8' },
      resolver: new ScriptedResolver().script('inside.example', ['10.0.0.7', 'fd00::7']),
    });
  });
  afterEach(() => deleteAllDestinations(app));
  afterAll(() => app.close());

  it.each([
    'https://10.1.2.3/',
    'http://10.1.2.3:4318/v1/traces',
    'http://[fd00::1]/',
    'http://inside.example/',
    'http://unknown.example/',
  ])('return 201 for %s', async (url) => {
    expect((await post(app, webhookTo(url))).status).toBe(201);
  });

  it.each(configsWith('http://10.1.2.3:8080'))(
    'return 201 for a %s in the own network',
    async (type, config) => {
      expect((await post(app, { type, name: 'x', config })).status).toBe(201);
    },
  );

  it('return 400 in another range', async () => {
    await expectInvalidRequest(
      app,
      webhookTo('https://192.168.0.1/'),
      'config: 192.168.0.1 is a private address',
    );
    await expectNothingStored(app);
  });
});
