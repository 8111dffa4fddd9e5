// Reports run a few at a time, shared fairly between accounts.
import { expect, it } from '@jest/globals';
import type { Database } from './database.js';
import { Reports } from './reports.js';

/** Statements end on the test's command. */
function createReports() {
  const running: { end: () => void; fail: (error: Error) => void }[] = [];
  const database = {
    readWithin: () =>
      new Promise<object[]>((resolve, reject) => {
        running.push({ end: () => resolve([]), fail: reject });
      }),
  } as unknown as Database;
  return { running, reports: new Reports(database) };
}

const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const STATEMENT = { text: 'SELECT 1' };

it('runs one report of an account at a time, and two in all', async () => {
  const { running, reports } = createReports();
  const first = reports.read('a', STATEMENT);
  const second = reports.read('a', STATEMENT);
  await settled();
  expect(running).toHaveLength(1);
  // Another account does not wait for the first one's queue.
  const other = reports.read('b', STATEMENT);
  await settled();
  expect(running).toHaveLength(2);
  running[0]!.end();
  await first;
  await settled();
  expect(running).toHaveLength(3);
  running[1]!.fail(new Error('broken'));
  await expect(other).rejects.toThrow('broken');
  running[2]!.end();
  await second;
  // All permits are free again.
  for (const account of ['a', 'b']) void reports.read(account, STATEMENT);
  await settled();
  expect(running).toHaveLength(5);
});

it('rejects the 12th report of an account with 503, and no report of other accounts', async () => {
  const { running, reports } = createReports();
  for (let count = 0; count < 11; count++) void reports.read('a', STATEMENT);
  await settled();
  await expect(reports.read('a', STATEMENT)).rejects.toMatchObject({
    status: 503,
    headers: { 'Retry-After': '5' },
  });
  const others = ['b', 'c', 'd'].map((account) => reports.read(account, STATEMENT));
  await settled();
  // Each of the others is served before a second report of the first account.
  for (const expected of [3, 4]) {
    running.at(-1)!.end();
    await settled();
    expect(running).toHaveLength(expected);
  }
  running.at(-1)!.end();
  await expect(Promise.all(others)).resolves.toHaveLength(3);
});
