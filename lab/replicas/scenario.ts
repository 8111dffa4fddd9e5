// A scenario, its result, and the course of most scenarios.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FailoverPair, FaultCluster } from './cluster.js';
import type { Fault } from './faults.js';
import { openLab } from './lab.js';
import type { Lab, LabOptions } from './lab.js';
import { checkLedger } from './ledger.js';
import type { LedgerCounts } from './ledger.js';
import { startLoad } from './load.js';
import type { LoadOptions } from './load.js';
import { totalRejections } from './load-report.js';
import type { LoadReport } from './load-report.js';
import { percentile } from '../support/statistics.js';

export interface RunOptions {
  readonly directory?: string;
  /** Beside that of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ScenarioContext {
  readonly cluster: FaultCluster;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Prints a progress line. */
  readonly say: (text: string) => void;
  /** Rounds of the scenario that kills, and seconds of the long pause: shorter for a look, as asked for a proof. */
  readonly killRounds: number;
  readonly pauseSeconds: number;
  /** A checkout with a dist that tenants attack; by default this one. */
  readonly build?: string;
  /** A server of its own with its files in a folder: for faults of the disk. */
  openCluster(directory: string, settings?: Readonly<Record<string, string>>): Promise<FaultCluster>;
  /** Two servers of their own with their files in an empty folder. */
  openFailoverPair(directory: string): Promise<FailoverPair>;
  /** A folder for whatever, removed at the end. */
  readonly directory: string;
  /** Runs a program; throws with what it said when it fails. */
  readonly run: (program: string, parameters: readonly string[], options?: RunOptions) => Promise<string>;
}

export interface ScenarioResult {
  readonly counts: LedgerCounts;
  readonly problems: readonly string[];
  /** Further observations, one line each. */
  readonly remarks: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** Throws Skipped where this machine cannot do it. */
  run(context: ScenarioContext): Promise<ScenarioResult>;
}

export interface FaultOptions {
  readonly context: Omit<ScenarioContext, 'random'>;
  readonly seed: number;
  /** Only those whose name contains this. */
  readonly only: string;
  readonly line: (text: string) => void;
}

/** The end of a run of faults, of a soak or of tenants. */
export interface RunEnd {
  readonly isGood: boolean;
  readonly closing: string;
  /** Markdown. */
  readonly page: string;
}

export class Skipped extends Error {}

const BEFORE_MS = 700;
const AFTER_MS = 1_200;
// The length of a fault that names no other.
const SHORT_MS = 2_000;

/** Opens a lab for the scenario, closes it whatever happens. */
export async function inLab<Result>(
  context: ScenarioContext,
  options: Pick<LabOptions, 'name'> & Partial<LabOptions>,
  work: (lab: Lab) => Promise<Result>,
): Promise<Result> {
  const { cluster, random, signal } = context;
  const lab = await openLab({ cluster, random, signal, ...options });
  try {
    return await work(lab);
  } finally {
    await lab.close();
  }
}

/** The same on a server with a synchronous standby. */
export async function inLabWithStandby<Result>(
  context: ScenarioContext,
  options: Pick<LabOptions, 'name'> & Partial<LabOptions>,
  work: (lab: Lab, pair: FailoverPair) => Promise<Result>,
): Promise<Result> {
  const directory = join(context.directory, options.name);
  await mkdir(directory, { mode: 0o711 });
  const pair = await context.openFailoverPair(directory);
  try {
    return await inLab({ ...context, cluster: pair }, options, (lab) => work(lab, pair));
  } finally {
    await pair.close();
  }
}

/**
 * Load, the fault in the midst of it, more load when it is healed, and then the ledger; `earlier` are the reports of
 * calls before.
 */
export async function survive(
  lab: Lab,
  faults: readonly Fault[],
  loadOptions: LoadOptions,
  say: (text: string) => void,
  earlier: readonly LoadReport[] = [],
): Promise<ScenarioResult> {
  const load = startLoad(lab, loadOptions);
  const remarks: string[] = [];
  const problems: string[] = [];
  await lab.wait(BEFORE_MS);
  for (const fault of faults) {
    const before = { seen: load.report.seen.length, rejected: totalRejections(load.report) };
    await fault.run(lab, SHORT_MS);
    const healedAt = performance.now();
    const seenThen = load.report.seen.length;
    const rejectedThen = totalRejections(load.report);
    await lab.untilReady();
    while (load.report.seen.length === seenThen && performance.now() - healedAt < 30_000) await lab.wait(20);
    const first = load.report.seen[seenThen];
    const recovered = first ? Math.max(first.at - healedAt, 0) : null;
    if (recovered === null)
      problems.push(`${fault.name}: no call was answered within 30 s after it was healed`);
    else if (recovered > (fault.recoversWithin ?? Infinity))
      problems.push(
        `${fault.name}: the next call was answered ${Math.round(recovered)} ms after it was healed`,
      );
    remarks.push(
      `${fault.name}: ${seenThen - before.seen} answered and ${rejectedThen - before.rejected} refused ` +
        `during it, the next answer ${recovered === null ? 'never' : `${Math.round(recovered)} ms`} after it was healed`,
    );
    say(remarks.at(-1) ?? '');
    await lab.wait(AFTER_MS);
  }
  await load.stop();
  return check(lab, [...earlier, load.report], { remarks, problems });
}

/** The ledger, and what the scenario itself has found. */
export async function check(
  lab: Lab,
  reports: readonly LoadReport[],
  own: { readonly remarks?: readonly string[]; readonly problems?: readonly string[] } = {},
): Promise<ScenarioResult> {
  const { counts, problems } = await checkLedger(lab, reports);
  const latencies = reports.flatMap(({ seen }) => seen.map(({ latency }) => latency));
  const rejections = new Map<number, number>();
  for (const [status, count] of reports.flatMap((report) => [...report.rejections]))
    rejections.set(status, (rejections.get(status) ?? 0) + count);
  const statuses = [...rejections].map(([status, count]) => `${count} x ${status}`).join(', ');
  return {
    counts,
    problems: [...(own.problems ?? []), ...problems],
    remarks: [
      ...(own.remarks ?? []),
      `latency p50 ${Math.round(percentile(latencies, 0.5))} ms, p99 ${Math.round(percentile(latencies, 0.99))} ms` +
        (statuses === '' ? '' : `; refused ${statuses}`),
    ],
  };
}
