// An empty body is an empty object, in whatever form it comes. In an app of its own: operations without a required member
// succeed.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createObjects, NAMED_ROUTES } from '../support/requests/routes.js';
import type { Fill } from '../support/requests/routes.js';

let app: TestApp;
let fill: Fill;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  ({ fill } = await createObjects(app, app));
});
afterAll(() => app.close());

// All of them say the same: no body.
const EMPTY_BODIES = {
  'of no length': { headers: {}, body: () => '' },
  'that unpacks to nothing': { headers: { 'content-encoding': 'gzip' }, body: () => gzipSync('') },
  'without an announced length': { headers: {}, body: () => new Blob([]).stream() },
};

describe('an empty body', () => {
  it.each(NAMED_ROUTES.filter(({ body }) => body))('is an empty object: $name', async (route) => {
    const statuses: number[] = [];
    const key = route.access === 'inference' ? (await app.createKey()).secret : app.managementKey;
    for (const [name, { headers, body }] of Object.entries(EMPTY_BODIES)) {
      const response = await fetch(`${app.baseUrl}${fill(route.path)}`, {
        method: route.method.toUpperCase(),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body(),
        duplex: 'half',
      });
      const text = await response.text();
      if (response.status >= 500) throw new Error(`${name}: ${response.status} ${text}`);
      statuses.push(response.status);
    }
    expect(new Set(statuses).size).toBe(1);
    expect(statuses).not.toContain(401);
  });
});
