// A database whose sessions are in another time zone than UTC: times are the same on every path.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { embed, LOCAL } from '../../support/requests/create-embedding.js';
import { administrate, createTestDatabase } from '../../support/database/database.js';
import type { TestDatabase } from '../../support/database/database.js';

interface Body {
  readonly data: Readonly<Record<string, unknown>>;
}

let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await administrate(database.url, `ALTER DATABASE "${name}" SET timezone = 'Asia/Kolkata'`);
  app = await createTestApp({ databaseUrl: database.url });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('a database in another time zone', () => {
  it('finds a call by its id', async () => {
    const { headers } = await embed(app, { model: LOCAL, input: 'x' });
    const id = String(headers['x-generation-id']);
    const found = await ask(app, 'get', `/generation?id=${id}`, { key: app.apiKey });
    expect(found.status).toBe(200);
    expect(found.body.data.created_at).toBe(app.clock.now().toISOString());
  });

  it('returns the same times when an object is created and when it is read', async () => {
    const expires = '2027-01-31T12:00:00.000Z';
    const key = { name: 'Timed', expires_at: expires };
    const made = await askFor<Body>(201, app, 'post', '/keys', { body: key });
    expect(made.data['expires_at']).toBe(expires);
    const read = await askFor<Body>(200, app, 'get', `/keys/${String(made.data['hash'])}`);
    expect(read.data).toEqual(made.data);
    const routes = '/observability/destinations';
    const hook = await askFor<Body>(201, app, 'post', routes, { body: WEBHOOK });
    expect(await askFor(200, app, 'get', `${routes}/${String(hook.data['id'])}`)).toEqual(hook);
    expect(hook.data['created_at']).toBe(app.clock.now().toISOString());
  });
});
