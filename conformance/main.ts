// Runs the same checks on this service and on another gateway, with the same stubs of all providers, and prints the
// results.
import { setMaxListeners } from 'node:events';
import { startEveryProvider } from '../test/support/every-provider.js';
import type { EveryProvider } from '../test/support/every-provider.js';
import type { Gateway } from './gateway.js';
import { startPortkey } from './portkey.js';
import type { InstalledPortkey } from './portkey.js';
import { runChecks } from './run.js';
import type { Outcomes } from './run.js';
import { startSignalbox } from './signalbox.js';
import { count, writeLegend, writeReasons, writeSummary, writeTables } from './table.js';

// About three times the usual duration on two cores.
const LIMIT_MS = 170_000;

export interface ConformanceOptions {
  readonly databaseUrl: string;
  /** Null when it could not be installed: then this service is tested alone. */
  readonly portkey: InstalledPortkey | null;
  readonly progress: {
    line(text: string): void;
    step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
  };
  readonly signal: AbortSignal;
}

/** Whether every check of this service passed. The other gateway's failures do not count. */
export async function runConformance(options: ConformanceOptions): Promise<boolean> {
  const { progress } = options;
  const signal = withLimit(options.signal);
  const providers = await startEveryProvider();
  const gateways: Gateway[] = [];
  try {
    const own = await progress.step('Starting signalbox', () =>
      startSignalbox(providers, { ...options, signal }),
    );
    gateways.push(own);
    const other = await startOther(providers, { ...options, signal });
    if (other) gateways.push(other);
    const results = new Map<Gateway, Outcomes>();
    for (const gateway of gateways) {
      const title = `Asking ${gateway.name}`;
      results.set(gateway, await progress.step(title, () => runChecks(gateway, providers, signal)));
    }
    progress.line(`\n${writeResults(results)}`);
    return count(results.get(own) ?? new Map(), 'wrong') === 0;
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await providers.close();
  }
}

function withLimit(signal: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const reason = new Error(`the gateways did not get through all checks in ${LIMIT_MS / 1000} s`);
  setTimeout(() => limit.abort(reason), LIMIT_MS).unref();
  const limited = AbortSignal.any([signal, limit.signal]);
  // Every request in flight adds a listener.
  setMaxListeners(0, limited);
  return limited;
}

async function startOther(
  providers: EveryProvider,
  { portkey, progress, signal }: ConformanceOptions,
): Promise<Gateway | null> {
  if (!portkey) return null;
  try {
    return await progress.step('Starting Portkey', () => startPortkey(providers, portkey, signal));
  } catch (error) {
    signal.throwIfAborted();
    progress.line(`Portkey does not start: only signalbox is judged. ${String(error)}`);
    return null;
  }
}

function writeResults(results: ReadonlyMap<Gateway, Outcomes>): string {
  const all = [...results];
  const reasons = all.map(([{ name }, outcomes]) => [name, writeReasons(outcomes)] as const);
  return [
    ...all.map(([{ name }, outcomes]) => writeTables(name, outcomes)),
    writeLegend([...results.keys()]),
    ...reasons.flatMap(([name, lines]) => (lines === '' ? [] : [`${name}: problems\n${lines}`])),
    all.map(([{ name }, outcomes]) => writeSummary(name, outcomes)).join('\n'),
  ].join('\n\n');
}
