// The rate limit of every route that the router knows: a new route is limited unless it is named here.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Application } from 'express';
import type { Response } from 'supertest';
import { ask, askFor } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { expectError } from '../support/requests/error-shape.js';

// Probes of the operator's own machines: a load balancer asks them for all callers.
const EXEMPT = ['GET /health', 'GET /ready', 'GET /metrics'];

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

function routesOf(app: TestApp): readonly string[] {
  const { router } = app.application.getHttpAdapter().getInstance() as Application;
  const { stack } = router as unknown as { stack: readonly Layer[] };
  const routes = stack.flatMap(({ route }) =>
    route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
  );
  return [...new Set(routes.filter((route) => /^(?:GET|POST|PUT|PATCH|DELETE) \/./.test(route)))];
}

function send(app: TestApp, route: string, key: string | null): Promise<Response> {
  const [method = '', path = ''] = route.split(' ');
  const request = app.http[method.toLowerCase() as Method](path.replaceAll(/:\w+|\*\w+/g, 'x'));
  return Promise.resolve(key === null ? request : request.set('authorization', `Bearer ${key}`));
}

describe('a key that has used up its requests of a minute', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({
      environment: {
        RATE_LIMIT_MANAGEMENT_PER_MINUTE: '1',
        RATE_LIMIT_INFERENCE_PER_MINUTE: '1',
        RATE_LIMIT_PUBLIC_PER_MINUTE: '1',
      },
    });
    for (const key of [app.managementKey, app.apiKey]) await askFor(200, app, 'get', '/key', { key });
    expect((await app.http.get('/api/v1/providers')).status).toBe(200);
  });
  afterAll(() => app.close());

  it('gets 429 on every route except the exempt ones', async () => {
    const routes = routesOf(app);
    expect(routes.length).toBeGreaterThan(50);
    const answeredAll: string[] = [];
    for (const route of routes) {
      const answers: Response[] = [];
      for (const key of [app.managementKey, app.apiKey, null]) answers.push(await send(app, route, key));
      const statuses = answers.map(({ status }) => status);
      if (statuses.every((status) => status === 200)) answeredAll.push(route);
      // 401 and 403 are the wrong kind of key, or none.
      else expect({ route, statuses, isLimited: isLimited(statuses) }).toMatchObject({ isLimited: true });
      for (const answer of answers.filter(({ status }) => status === 429)) {
        expectError(answer, 429, /^Rate limit exceeded: 1 requests a minute/);
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
        const headers = {
          'X-RateLimit-Limit': '1',
          'X-RateLimit-Remaining': '0',
          'X-RateLimit-Reset': expect.stringMatching(/^\d{13}$/),
        };
        // The errors of Messages and of OAuth have no metadata.
        if (!/\/(?:messages|oauth)/.test(route))
          expect(answer.body).toMatchObject({ error: { metadata: { headers } } });
        for (const [name, value] of Object.entries(headers))
          expect(answer.headers).toHaveProperty(name.toLowerCase(), value);
      }
    }
    expect(answeredAll.toSorted()).toEqual(EXEMPT.toSorted());
  });
});

function isLimited(statuses: readonly number[]): boolean {
  return statuses.includes(429) && statuses.every((status) => [401, 403, 429].includes(status));
}

describe('changes', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({
      environment: { RATE_LIMIT_CHANGES_PER_MINUTE: '2', RATE_LIMIT_MANAGEMENT_PER_MINUTE: '100' },
    });
  });
  afterAll(() => app.close());

  it('of an account are counted together for all of its keys; reading continues', async () => {
    const second = await app.createKey({ kind: 'management' });
    const rename = (key: string) =>
      ask(app, 'patch', `/keys/${app.key.hash}`, { key, body: { name: 'Renamed' } });
    expect((await rename(app.managementKey)).status).toBe(200);
    expect((await rename(second.secret)).status).toBe(200);
    for (const key of [app.managementKey, second.secret]) {
      const rejected = await rename(key);
      expectError(rejected, 429, /^Rate limit exceeded: 2 changes a minute; try again in \d+ s$/);
      expect(rejected.headers['x-ratelimit-limit']).toBe('2');
      await askFor(200, app, 'get', `/keys/${app.key.hash}`, { key });
      // A query by POST changes nothing.
      await askFor(200, app, 'post', '/analytics/query', { key, body: { metrics: ['request_count'] } });
    }
    const other = await app.createAccount();
    await askFor(200, app, 'patch', `/keys/${other.key.hash}`, {
      key: other.managementKey,
      body: { name: 'Renamed' },
    });
  });
});
