// Bodies with very many members: every route rejects them by name without delaying other requests.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { LOCAL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendExactly } from '../../support/requests/raw-requests.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const members = (count: number): string =>
  `{${Array.from({ length: count }, (_none, index) => `"m${index}":1`).join(',')}}`;
const MANY = members(70_000);

const post = (path: string, key: string, body: string, method = 'POST') =>
  sendExactly(`${app.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: Buffer.from(body),
  });

const placed = (object: object, at: string): string => JSON.stringify(object).replace('"@"', () => at);
const ROUTES: readonly (readonly [string, string, string, string, string])[] = [
  ['POST', '/keys', 'the body', MANY, 'management'],
  ['POST', '/keys', 'external_identity', placed({ name: 'a', external_identity: '@' }, MANY), 'management'],
  ['POST', '/workspaces', 'the body', MANY, 'management'],
  ['POST', '/byok', 'x', placed({ x: '@' }, MANY), 'management'],
  ['POST', '/analytics/query', 'filters[0]', placed({ filters: ['@'] }, MANY), 'management'],
  ['POST', '/observability/destinations', 'config', placed({ ...WEBHOOK, config: '@' }, MANY), 'management'],
  [
    'POST',
    '/observability/destinations',
    'config.headers',
    placed({ ...WEBHOOK, config: { ...WEBHOOK.config, headers: '@' } }, MANY),
    'management',
  ],
  [
    'POST',
    '/observability/destinations',
    'filter_rules.groups[0].rules[1]',
    placed({ ...WEBHOOK, filter_rules: { groups: [{ rules: [{}, '@'] }] } }, MANY),
    'management',
  ],
  ...['provider', 'trace', 'metadata'].map(
    (name) =>
      [
        'POST',
        '/embeddings',
        name,
        placed({ model: LOCAL, input: 'a', [name]: '@' }, MANY),
        'inference',
      ] as const,
  ),
  ['POST', '/embeddings', 'the body', MANY.replace('{', `{"model":"${LOCAL}","input":"a",`), 'inference'],
  ['POST', '/embeddings', 'the body', members(5_000), 'inference'],
  ['POST', '/keys', 'the body', members(5_000), 'management'],
];

describe('an object of many thousand members', () => {
  it.each(ROUTES)('is refused by %s %s at %s', async (method, path, at, body, kind) => {
    const key = kind === 'inference' ? app.apiKey : app.managementKey;
    const answer = await post(path, key, body, method);
    expectError(answer, 400, `Invalid request parameters: ${at}: must have at most 256 members`);
  });

  it('of a million and a half members is rejected before it is parsed', async () => {
    const body = placed({ model: LOCAL, input: 'a', provider: '@' }, members(1_500_000));
    const parse = jest.spyOn(JSON, 'parse');
    const usual = JSON.stringify({ model: LOCAL, input: 'a' });
    await post('/embeddings', app.apiKey, usual);
    expect(parse).toHaveBeenCalledWith(usual);
    const answer = await post('/embeddings', app.apiKey, body);
    // Other work of the process parses values that are not texts.
    const texts = parse.mock.calls.flat().filter((argument) => typeof argument === 'string');
    parse.mockRestore();
    const longest = Math.max(...texts.map(({ length }) => length));
    expectError(answer, 400, 'Invalid request parameters: provider: must have at most 256 members');
    // Parsing alone would hold all requests for seconds.
    expect(longest).toBeLessThan(body.length);
  });
});

describe('an endless list', () => {
  it.each([
    ['/embeddings', 'extra', { model: LOCAL, input: 'a', extra: '@' }, 10_000, 'inference'],
    [
      '/embeddings',
      'provider.order',
      { model: LOCAL, input: 'a', provider: { order: '@' } },
      1_000,
      'inference',
    ],
    ['/observability/destinations', 'regions', { ...WEBHOOK, regions: '@' }, 1_000, 'management'],
    ['/analytics/query', 'metrics', { metrics: '@' }, 1_000, 'management'],
  ] as const)('is rejected by POST %s at %s', async (path, at, body, most, kind) => {
    const list = `[${Array.from({ length: 100_000 }, () => '"a"').join(',')}]`;
    const key = kind === 'inference' ? app.apiKey : app.managementKey;
    const answer = await post(path, key, placed(body, list));
    expectError(answer, 400, `Invalid request parameters: ${at}: must have at most ${most} elements`);
  });
});

describe('a query of very many names', () => {
  const query = Array.from({ length: 1_500 }, (_none, index) => `a[${index}]=1`).join('&');

  it.each(['/keys', '/audit', '/activity', '/observability/destinations'])(
    'is rejected by GET %s',
    async (path) => {
      const answer = await app.http
        .get(`/api/v1${path}?${query}`)
        .set('authorization', `Bearer ${app.managementKey}`);
      const message = expectError(answer, 400);
      expect(message.length).toBeLessThan(500);
    },
  );
});

it('accepts large inputs', async () => {
  const answer = await post(
    '/embeddings',
    app.apiKey,
    JSON.stringify({
      model: LOCAL,
      dimensions: 8,
      input: Array.from({ length: 20_000 }, (_none, index) => `a:{${index}[`),
    }),
  );
  expect(answer.status).toBe(200);
});
