// Lists as CSV. Contract: docs/contract.md#conventions.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  await askFor(201, app, 'post', '/keys', { body: { name: '=HYPERLINK("http://a","b")' } });
  await recordGenerations(app, 3, { createdAt: new Date('2026-11-17T10:00:00Z'), userId: '@user' }, null);
});
afterAll(() => app.close());

const get = async (path: string, accept = 'text/csv'): Promise<Response> =>
  app.http.get(path).set({ accept, authorization: `Bearer ${app.managementKey}` });

describe.each([
  ['/api/v1/keys', 'label,limit,limit_remaining'],
  ['/api/v1/activity', 'date,model,model_permaslug'],
  ['/api/v1/generations', 'id,created_at,workspace_id'],
  ['/api/v1/audit', 'id,created_at,actor'],
])('%s', (path, header) => {
  it('answers a header line and the rows of the page', async () => {
    const response = await get(path);
    const json = await get(path, 'application/json');
    expect(response.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', vary: 'Accept' });
    expect(json.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', vary: 'Accept' });
    expect(response.text.startsWith(header)).toBe(true);
    const { data } = json.body as { data: Readonly<Record<string, unknown>>[] };
    expect(data.length).toBeGreaterThan(0);
    expect(response.text.trim().split('\r\n')).toHaveLength(1 + data.length);
    expect(response.text.split('\r\n')[0]?.split(',')).toEqual(
      expect.arrayContaining(Object.keys(data[0] ?? {})),
    );
  });

  it('answers JSON to clients that accept both, and errors as JSON', async () => {
    expect((await get(path, '*/*')).headers['content-type']).toMatch(/^application\/json/);
    expectError(await get(`${path}?unknown=1`), 400);
  });
});

it('neutralises formulas', async () => {
  expect((await get('/api/v1/keys')).text).toContain('"\'=HYPERLINK(""http://a"",""b"")"');
  expect((await get('/api/v1/generations')).text).toContain(",'@user,");
});

it.each(['/api/v1/keys', '/api/v1/generations', '/api/v1/audit'])(
  'names the next page of %s',
  async (path) => {
    const rows: string[] = [];
    let next: string | null = `${path}?limit=1`;
    for (let page = 0; next !== null && page < 10; page++) {
      const response: Response = await get(next);
      rows.push(...response.text.trim().split('\r\n').slice(1));
      next = /^<(.*)>; rel="next"$/.exec(response.headers['link'] ?? '')?.[1] ?? null;
    }
    const { data } = (await get(path, 'application/json')).body as { data: unknown[] };
    expect(rows).toHaveLength(data.length);
    expect(new Set(rows).size).toBe(data.length);
  },
);

it('answers 304 to an unchanged list of keys', async () => {
  const { etag } = (await get('/api/v1/keys')).headers;
  const json = await get('/api/v1/keys', 'application/json');
  expect(json.headers['etag']).not.toBe(etag);
  const again = await app.http
    .get('/api/v1/keys')
    .set({ accept: 'text/csv', authorization: `Bearer ${app.managementKey}`, 'if-none-match': etag ?? '' });
  expect(again.status).toBe(304);
});
