// Requests that browser pages may send and responses that they may read, by CORS_ALLOWED_ORIGINS.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { embed, LOCAL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';

const DASHBOARD = 'https://dashboard.example.com';
const LOCAL_DASHBOARD = 'http://localhost:5173';

const preflight = (app: TestApp, origin: string, method = 'POST', path = '/api/v1/embeddings') =>
  app.http
    .options(path)
    .set('origin', origin)
    .set('access-control-request-method', method)
    .set('access-control-request-headers', 'authorization,content-type,x-stainless-lang');

describe('configured origins', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({ environment: { CORS_ALLOWED_ORIGINS: `${DASHBOARD}, ${LOCAL_DASHBOARD}` } });
  });
  afterAll(() => app.close());

  it.each([DASHBOARD, LOCAL_DASHBOARD])('allow a preflight of %s without a credential', async (origin) => {
    const { status, headers } = await preflight(app, origin);
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-max-age': '7200',
      'x-request-id': expect.any(String),
    });
    expect(headers['vary']).toContain('Origin');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each([
    ['PATCH', '/api/v1/keys/abc'],
    ['DELETE', '/api/v1/workspaces/abc'],
    ['PUT', '/api/v1/workspaces/abc/budgets/daily'],
    ['GET', '/api/v1/nothing'],
  ])('allow a preflight for %s %s', async (method, path) => {
    const { status, headers } = await preflight(app, DASHBOARD, method, path);
    expect(status).toBe(204);
    expect(headers['access-control-allow-methods']).toContain(method);
  });

  it.each([
    'https://elsewhere.example.com',
    'http://dashboard.example.com',
    'https://dashboard.example.com:8443',
    'https://dashboard.example.com.evil.example',
    'null',
  ])('do not include %s', async (origin) => {
    const { headers } = await preflight(app, origin);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    const answer = await embed(app, { model: LOCAL, input: 'hello' }).set('origin', origin);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(answer.headers['vary']).toContain('Origin');
  });

  it('may read responses, with the headers that clients need', async () => {
    const { status, headers } = await embed(app, { model: LOCAL, input: 'hello' }).set('origin', DASHBOARD);
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(DASHBOARD);
    const exposed = headers['access-control-expose-headers']?.toLowerCase().split(',');
    expect(exposed).toEqual(
      expect.arrayContaining(['x-request-id', 'x-generation-id', 'x-embedding-cache', 'retry-after', 'etag']),
    );
    expect(exposed).toContain('x-ratelimit-remaining');
    expect(headers['x-generation-id']).toEqual(expect.any(String));
  });

  it('may read errors as well', async () => {
    const answer = await app.http.get('/api/v1/key').set('origin', DASHBOARD);
    expectError(answer, 401);
    expect(answer.headers['access-control-allow-origin']).toBe(DASHBOARD);
  });
});

it('allows every origin with *', async () => {
  const app = await createTestApp({ environment: { CORS_ALLOWED_ORIGINS: '*' } });
  try {
    const { status, headers } = await preflight(app, 'https://anywhere.example');
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  } finally {
    await app.close();
  }
});

it('sends no CORS header without the variable', async () => {
  const app = await createTestApp();
  try {
    const { status, headers } = await preflight(app, DASHBOARD);
    expect(status).not.toBe(204);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(headers).not.toHaveProperty('vary');
  } finally {
    await app.close();
  }
});
