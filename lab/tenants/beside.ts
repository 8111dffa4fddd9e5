// The load of the other tenant, measured in turn without and beside an attack.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startLoad } from '../replicas/load.js';
import type { Load, LoadOptions } from '../replicas/load.js';
import { totalRejections } from '../replicas/load-report.js';
import type { LoadReport } from '../replicas/load-report.js';
import type { AttackFigures } from './attacks.js';
import { milliseconds } from './experiment.js';
import type { RunningAttack } from './running-attack.js';
import type { TenantLab } from './tenant-lab.js';
import { megabytes, percentile } from '../support/statistics.js';

/** Below the rate limit of one key, and enough calls for a p99: some hundred in a few seconds. */
export const OTHER_LOAD: LoadOptions = { clients: 4, pause: 40 };
const WARM_UP_MS = 1_000;
// A service that holds its calls for longer than this after an attack is ended: the run must go on.
const STOP_TIMEOUT_MS = 12_000;
const BETWEEN_LOOKS_MS = 20;
// Milliseconds between the timers that measure this process's event loop.
const LOOP_RESOLUTION_MS = 5;

export const errorsOf = (report: LoadReport): number =>
  report.broken + totalRejections(report) + report.wrong.length;
export const latencyOf = ({ seen }: LoadReport, part: number): number =>
  percentile(
    seen.map(({ latency }) => latency),
    part,
  );

/** Stops a load whose calls may never be answered. */
export async function stopLoad(lab: TenantLab, load: Load): Promise<void> {
  const stopped = load.stop().then(() => true);
  const isStopped = await Promise.race([stopped, pause(STOP_TIMEOUT_MS, false)]);
  if (isStopped) return;
  lab.processes.foundStuck();
  await lab.replica.kill();
  await stopped;
}

/** The load alone for so long. */
export async function measureLoad(
  lab: TenantLab,
  duration: number,
  options: LoadOptions = OTHER_LOAD,
): Promise<LoadReport> {
  const load = startLoad(lab, options);
  await lab.wait(duration);
  await stopLoad(lab, load);
  return load.report;
}

export interface BesideOptions {
  readonly calmMs: number;
  readonly attackMs: number;
  readonly load?: LoadOptions;
}

export interface Beside {
  /** The load before the compared times: processes that have just started are slow. */
  readonly warmUp: LoadReport;
  readonly calm: LoadReport;
  readonly attacked: LoadReport;
  readonly calmProbe: AttackFigures;
  readonly attackedProbe: AttackFigures;
  readonly attacks: readonly AttackFigures[];
  /** Milliseconds that 99 % of the turns of this process's event loop took at most: the stubs and the load share it. */
  readonly ownDelayBefore: number;
  readonly ownDelayBeside: number;
  /** Resident bytes of the process that serves, at its peak before the attack and until its end. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Milliseconds from each answer that was seen to its delivery, of those that were delivered by then. */
  readonly calmLags: readonly number[];
  readonly attackedLags: readonly number[];
}

/** `begin` starts attacks; they are stopped when the time is over. Deliveries have some seconds to come in after it. */
export async function measureBeside(
  lab: TenantLab,
  { calmMs, attackMs, load = OTHER_LOAD }: BesideOptions,
  begin: () => Promise<readonly RunningAttack[]>,
): Promise<Beside> {
  const arrivals = watchArrivals(lab);
  const warmUp = await measureLoad(lab, WARM_UP_MS, load);
  // The process that delivers is started after the one that serves.
  await arrivals.untilAllOf([warmUp]);
  const calmProbe = await lab.probe();
  const readCalmDelay = watchOwnDelay();
  const calm = await measureLoad(lab, calmMs, load);
  const ownDelayBefore = readCalmDelay();
  const calmFigures = await calmProbe.stop();
  const bytesBefore = lab.processes.look().serving;
  const probe = await lab.probe();
  const running = await begin();
  const readAttackedDelay = watchOwnDelay();
  const beside = startLoad(lab, load);
  await lab.wait(attackMs);
  const ownDelayBeside = readAttackedDelay();
  const attackedProbe = await probe.stop();
  await stopLoad(lab, beside);
  const attacks = await Promise.all(running.map((attack) => attack.stop()));
  const bytesAfter = lab.processes.look().serving;
  const attacked = beside.report;
  await arrivals.untilAllOf([warmUp, calm, attacked]);
  arrivals.stop();
  return {
    warmUp,
    calm,
    attacked,
    calmProbe: calmFigures,
    attackedProbe,
    attacks,
    ownDelayBefore,
    ownDelayBeside,
    bytesBefore,
    bytesAfter,
    calmLags: arrivals.lagsOf(calm),
    attackedLags: arrivals.lagsOf(attacked),
  };
}

/** Ends the measurement and reads it: milliseconds at the 99th percentile. */
function watchOwnDelay(): () => number {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  return () => {
    delay.disable();
    return delay.percentile(99) / 1e6;
  };
}

const ARRIVAL_TIMEOUT_MS = 10_000;

interface Arrivals {
  untilAllOf(reports: readonly LoadReport[]): Promise<void>;
  /** Milliseconds from the answer to the delivery; what has not arrived yet counts as late as now. */
  lagsOf(report: LoadReport): number[];
  stop(): void;
}

/** When each generation came to the destination of the other tenant. */
export function watchArrivals(lab: TenantLab): Arrivals {
  const arrivedAt = new Map<string, number>();
  let looked = 0;
  const look = (): void => {
    const { stored } = lab.receiver;
    const now = performance.now();
    for (; looked < stored.length; looked++) {
      const id = stored[looked] ?? '';
      if (!arrivedAt.has(id)) arrivedAt.set(id, now);
    }
  };
  const timer = setInterval(look, BETWEEN_LOOKS_MS);
  const missing = (report: LoadReport): boolean =>
    report.seen.some(({ generation }) => !arrivedAt.has(generation));
  return {
    untilAllOf: async (reports) => {
      const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
      while (reports.some(missing) && performance.now() < deadline) await lab.wait(BETWEEN_LOOKS_MS);
    },
    lagsOf: ({ seen }) => {
      look();
      const now = performance.now();
      return seen.map(({ generation, at }) => Math.max(0, (arrivedAt.get(generation) ?? now) - at));
    },
    stop: () => clearInterval(timer),
  };
}

/** The figures of the other accounts that most experiments report. */
export function besideFigures(lab: TenantLab, beside: Beside): Readonly<Record<string, string>> {
  const {
    calm,
    attacked,
    calmProbe,
    attackedProbe,
    ownDelayBefore,
    ownDelayBeside,
    bytesBefore,
    bytesAfter,
  } = beside;
  return {
    'others: p99 before, beside': `${milliseconds(latencyOf(calm, 0.99))}, ${latencyText(attacked, 0.99)}`,
    'others: answered, errors beside': `${attacked.seen.length}, ${errorsOf(attacked)}`,
    'event loop held, at most before, beside': `${milliseconds(calmProbe['longest'] ?? 0)}, ${milliseconds(attackedProbe['longest'] ?? 0)}`,
    'process that measures, p99 of its event loop before, beside': `${milliseconds(ownDelayBefore)}, ${milliseconds(ownDelayBeside)}`,
    'memory before, peak': `${megabytes(bytesBefore)}, ${megabytes(bytesAfter)}`,
    'process that serves': endingOf(lab),
  };
}

export function endingOf({ processes }: TenantLab): string {
  const { isAlive, isStuck, killed } = processes.look();
  if (isAlive) return 'lives';
  if (isStuck) return 'ended here: calls were never answered';
  return killed > 0 ? 'ended here: too large' : 'died';
}

function latencyText(report: LoadReport, part: number): string {
  const latency = latencyOf(report, part);
  return Number.isNaN(latency) ? 'no answer' : milliseconds(latency);
}

/**
 * Milliseconds that the p99 may rise by where twice what it was is less. One accepted body may hold the event loop for
 * 50 ms, and of some hundred calls a few meet such a moment. Two cores also carry the database, the process that
 * delivers, the attacker and this process: waiting for a core takes about 10 ms.
 */
const NOISE_MS = 60;

/** `least`: milliseconds that a delivery may take however fast the others were before the attack. */
export function lagProblems({ calmLags, attackedLags }: Beside, least: number): string[] {
  const [before, beside] = [Math.max(0, ...calmLags), Math.max(0, ...attackedLags)];
  if (beside <= Math.max(2 * before, least)) return [];
  return [
    `a delivery of the others came after ${milliseconds(beside)}, and after ${milliseconds(before)} at most before`,
  ];
}

/** The lag of the other tenant's destination. */
export function lagFigures({ calmLags, attackedLags }: Beside): Readonly<Record<string, string>> {
  const text = (part: number): string =>
    [calmLags, attackedLags].map((lags) => milliseconds(percentile(lags, part))).join(', ');
  return {
    "others' deliveries, p50 before, beside": text(0.5),
    "others' deliveries, last before, beside": text(1),
  };
}

/** The rules that every attack has to leave untouched for the others. */
export function besideProblems(lab: TenantLab, { calm, attacked }: Beside): string[] {
  const [before, beside] = [latencyOf(calm, 0.99), latencyOf(attacked, 0.99)];
  const bound = Math.max(2 * before, before + NOISE_MS);
  const problems: string[] = [];
  if (!(beside <= bound))
    problems.push(
      `p99 of the others ${milliseconds(before)} before, ${latencyText(attacked, 0.99)} beside it`,
    );
  if (errorsOf(attacked) > 0) problems.push(`${errorsOf(attacked)} calls of the others failed`);
  if (!lab.processes.look().isAlive) problems.push(`the process that serves: ${endingOf(lab)}`);
  return problems;
}
