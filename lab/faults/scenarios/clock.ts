// The database's clock jumps over midnight, a month's end and changes of summer time, while the clocks of the processes,
// which have odd time zones, jump by years: limits begin with the UTC day and month of the database, and at no other moment.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import type { Lab } from '../../replicas/lab.js';
import { untilDelivered } from '../../replicas/ledger.js';
import { callOnce } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import { inLab, check } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

const PRELOAD = fileURLToPath(new URL('../shifted-clock.mjs', import.meta.url));
// USD: a few calls a window.
const LIMIT = 0.0000012;
// Longer than processes take to read the database's clock again.
const FOLLOWED_MS = 2_500;
const YEAR_MS = 365 * 86_400_000;
const RESETS = ['daily', 'weekly', 'monthly'] as const;

interface Moment {
  readonly at: string;
  readonly what: string;
  /** Owners whose limits have reset since the last check. */
  readonly renewed: readonly (typeof RESETS)[number][];
}

const TIME_ZONES = ['America/St_Johns', 'Pacific/Apia'] as const;
const MOMENTS: readonly Moment[] = [
  { at: '2027-03-13T12:00:00Z', what: 'a Saturday', renewed: ['daily', 'weekly', 'monthly'] },
  { at: '2027-03-13T23:59:00Z', what: 'before a UTC midnight', renewed: [] },
  { at: '2027-03-14T00:00:01Z', what: 'a UTC midnight', renewed: ['daily'] },
  { at: '2027-03-14T03:30:30Z', what: 'midnight in St. Johns', renewed: [] },
  { at: '2027-03-14T05:30:30Z', what: 'summer time begins in St. Johns', renewed: [] },
  { at: '2027-03-14T11:00:30Z', what: 'midnight in Apia', renewed: [] },
  { at: '2027-03-15T00:00:01Z', what: 'a Monday', renewed: ['daily', 'weekly'] },
  { at: '2027-03-31T23:59:00Z', what: 'before the end of a month', renewed: ['daily', 'weekly'] },
  { at: '2027-04-01T00:00:01Z', what: 'the first of a month', renewed: ['daily', 'monthly'] },
  {
    at: '2027-11-07T04:31:00Z',
    what: 'summer time ends in St. Johns',
    renewed: ['daily', 'weekly', 'monthly'],
  },
  { at: '2027-12-31T23:59:00Z', what: 'before the end of a year', renewed: ['daily', 'weekly', 'monthly'] },
  { at: '2028-01-01T00:00:00Z', what: 'the first second of a year', renewed: ['daily', 'monthly'] },
];

/** Spends until nothing is left; how many calls that were. */
async function spendAll(lab: Lab, key: string, report: LoadReport): Promise<number> {
  const before = report.rejections.get(402) ?? 0;
  const seenBefore = report.seen.length;
  for (let round = 0; (report.rejections.get(402) ?? 0) === before; round++) {
    const replica = lab.replicas[round % lab.replicas.length];
    if (!replica || round > 200) throw new Error('a limit has no end');
    await callOnce(lab, replica, { key }, report);
  }
  return report.seen.length - seenBefore;
}

export const clockJumps: Scenario = {
  name: 'Clock jumps over midnight, the end of a month and summer time',
  run: async (context) => {
    const file = join(context.directory, 'clock');
    const shiftProcesses = (years: number): Promise<void> =>
      writeFile(file, String(Math.round(years * YEAR_MS)));
    const jumpTo = async (at: string, lab: Lab): Promise<void> => {
      await shiftProcesses((lab.random() - 0.5) * 10);
      for (const replica of lab.replicas) {
        const heard = replica.hear();
        replica.signal('SIGUSR2');
        await heard;
      }
      await lab.sql(
        `CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql STABLE
         AS $$ SELECT now() + interval '${Date.parse(at) - Date.now()} milliseconds' $$`,
      );
      await lab.wait(FOLLOWED_MS);
    };
    await shiftProcesses(4);
    const options = (zone: number) => ({
      preload: PRELOAD,
      environment: { FAULT_CLOCK_FILE: file, TZ: TIME_ZONES[zone] ?? '' },
    });
    return inLab(context, { name: 'clock', replicas: 1, replicaOptions: options(0) }, async (lab) => {
      lab.replicas.push(await lab.startReplica(options(1)));
      const problems: string[] = [];
      const report = createReport();
      const keys = new Map<string, string>();
      for (const reset of RESETS) {
        const body = { name: reset, limit: LIMIT, limit_reset: reset };
        const { key } = (await lab.manage('POST', '/keys', body)) as { readonly key: string };
        keys.set(reset, key);
      }
      for (const { at, what, renewed } of MOMENTS) {
        // Generations that wait longer than a day expire, even when the clock is the reason.
        await untilDelivered(lab);
        await jumpTo(at, lab);
        for (const reset of RESETS) {
          const calls = await spendAll(lab, keys.get(reset) ?? '', report);
          const isRenewed = renewed.includes(reset);
          if (isRenewed !== calls > 0)
            problems.push(`${what}, ${at}: a ${reset} limit ${isRenewed ? 'did not reset' : 'reset'}`);
        }
      }
      const remarks = [`${MOMENTS.length} moments in ${TIME_ZONES.join(' and ')}`];
      return check(lab, [report], { problems, remarks });
    });
  },
};
