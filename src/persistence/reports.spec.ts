// Reports run a few at a time, and whoever cannot wait is told so.
import { expect, it } from '@jest/globals';
import type { Database } from './database.js';
import { Reports } from './reports.js';

/** Statements end when the test says so. */
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

it('two at once; the next begins when one ends, or fails', async () => {
  const { running, reports } = createReports();
  const answers = Array.from({ length: 4 }, () => reports.read(STATEMENT));
  await settled();
  expect(running).toHaveLength(2);
  running[0]!.end();
  await answers[0];
  await settled();
  expect(running).toHaveLength(3);
  running[1]!.fail(new Error('broken'));
  await expect(answers[1]).rejects.toThrow('broken');
  await settled();
  expect(running).toHaveLength(4);
  for (const { end } of running) end();
  await Promise.all([answers[2], answers[3]]);
  // All places are free again.
  void reports.read(STATEMENT);
  void reports.read(STATEMENT);
  await settled();
  expect(running).toHaveLength(6);
});

it('the 23rd is refused with 503', async () => {
  const { reports } = createReports();
  for (let count = 0; count < 22; count++) void reports.read(STATEMENT);
  await settled();
  await expect(reports.read(STATEMENT)).rejects.toMatchObject({
    status: 503,
    headers: { 'Retry-After': '5' },
  });
});
