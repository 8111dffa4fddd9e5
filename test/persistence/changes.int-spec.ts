// Changes run a few at a time, shared fairly between accounts, so that a storm of them leaves connections to calls.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '../../src/persistence/database/database.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';

let app: TestApp;
let database: Database;
beforeAll(async () => {
  app = await createTestApp();
  database = app.application.get(Database);
});
afterAll(() => app.close());

it('delays neither connections nor changes of another account during a storm of one', async () => {
  const running = new Set<string>();
  const order: string[] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let most = 0;
  const change = (account: string, name: string): Promise<void> =>
    database.transact(async (transaction) => {
      running.add(name);
      most = Math.max(most, running.size);
      if (account === 'storm') await opened;
      await transaction.$queryRawUnsafe('SELECT 1');
      running.delete(name);
      order.push(name);
    }, account);
  const storm = Array.from({ length: 40 }, (_one, index) => change('storm', `storm ${index}`));
  await eventually(
    () => Promise.resolve(running.size),
    (size) => size > 0,
  );
  // The test app has five connections, two of them for changes, one of which is reserved for accounts without one.
  await change('other', 'other');
  expect(order).toEqual(['other']);
  expect(running.size).toBe(1);
  // Calls are read and written at the same time.
  expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  open();
  await Promise.all(storm);
  expect(order).toHaveLength(41);
  expect(most).toBe(2);
});

it('rejects a change of an account with 100 waiting ones', async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const waiting = Array.from({ length: 101 }, () => database.transact(() => opened, 'crowded'));
  await expect(database.transact(() => opened, 'crowded')).rejects.toMatchObject({
    status: 503,
    headers: { 'Retry-After': '1' },
  });
  await database.transact(() => Promise.resolve(), 'other');
  open();
  await Promise.all(waiting);
});
