// The claim of a scan for budget alerts: it ends with the scan, whatever ends that, and the next one reads the same part.
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { BudgetScan } from '../../src/deliveries/notifications/budget-scan.js';
import { BudgetSubjectsRepository } from '../../src/persistence/notifications/budget-subjects.repository.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { withoutScans } from '../support/deliveries/notifications.js';

const MAX_TRANSACTIONS = 1_000_000;

let app: TestApp;
let scan: BudgetScan;
let subjects: BudgetSubjectsRepository;
beforeAll(async () => {
  app = await createTestApp({ override: withoutScans });
  scan = app.application.get(BudgetScan);
  subjects = app.application.get(BudgetSubjectsRepository);
});
beforeEach(() => app.sql("UPDATE notification_scan SET ended_at = '-infinity'"));
afterAll(() => app.close());

interface Row {
  readonly scannedBefore: string;
  readonly claimedBy: string | null;
}
const read = async (): Promise<Row | undefined> => {
  const [row] = await app.sql<Row & Record<string, unknown>>(
    'SELECT scanned_before AS "scannedBefore", claimed_by AS "claimedBy" FROM notification_scan',
  );
  return row;
};

/** Another process has the claim at once, after the pause between two scans, and begins where this one did. */
async function expectReleased(before: Row | undefined): Promise<void> {
  expect(await read()).toEqual({ ...before, claimedBy: null });
  expect(await subjects.beginScan(60, MAX_TRANSACTIONS)).toBeNull();
  const next = await subjects.beginScan(0, MAX_TRANSACTIONS);
  expect(next?.from).toBe(before?.scannedBefore);
  await subjects.endScan(next!);
}

it('is released when the scan fails', async () => {
  const before = await read();
  jest.spyOn(subjects, 'listWatched').mockRejectedValueOnce(new Error('reset'));
  await expect(scan.scan(0)).rejects.toThrow('reset');
  await expectReleased(before);
});

it('is released when the end of the scan cannot be stored', async () => {
  const before = await read();
  jest.spyOn(subjects, 'endScan').mockRejectedValueOnce(new Error('reset'));
  await expect(scan.scan(0)).rejects.toThrow('reset');
  await expectReleased(before);
});

it('does not hide a failure by its own', async () => {
  jest.spyOn(subjects, 'listWatched').mockRejectedValueOnce(new Error('first'));
  jest.spyOn(subjects, 'releaseScan').mockRejectedValueOnce(new Error('second'));
  await expect(scan.scan(0)).rejects.toThrow('first');
  expect((await read())?.claimedBy).not.toBeNull();
  // As after its time.
  await app.sql("UPDATE notification_scan SET claimed_until = '-infinity', claimed_by = NULL");
});

// The last one: a task that was stopped stays so.
it('is released when the process stops', async () => {
  const before = await read();
  await scan.beforeApplicationShutdown();
  await scan.scan(0);
  await expectReleased(before);
});
