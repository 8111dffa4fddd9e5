// Runs the same checks on this service and on another gateway, with the same stubs of all providers, and prints the
// results: embeddings first, then chat, then every client's wire before every provider's.
import { setMaxListeners } from 'node:events';
import { startEveryChatProvider } from '../../test/support/chat-providers/every-chat-provider.js';
import { inHouseCatalogue, startEveryProvider } from '../../test/support/routing/every-provider.js';
import { PROVIDER_ROWS } from '../../test/support/providers/rows.js';
import { startWireStubs } from '../../test/support/wires/wire-stubs.js';
import { ANSWER_CHECKS } from './answer-checks.js';
import { portkeyChat, signalboxChat } from './chat/gateways.js';
import { CHAT_SUITE, runChatChecks } from './chat/run.js';
import { FAILURE_CHECKS } from './failure-checks.js';
import { portkeyGateway, startPortkey } from './portkey.js';
import type { InstalledPortkey, RunningPortkey } from './portkey.js';
import { runChecks } from './run-checks.js';
import type { Outcomes } from './run-checks.js';
import { signalboxGateway, startService } from './signalbox.js';
import { writeLegend, writeReasons, writeSummary, writeTables } from './table.js';
import type { CheckedGateway, Comparison, Suite } from './table.js';
import { portkeyWires, signalboxWires } from './wires/gateways.js';
import { runWireChecks, WIRES_SUITE } from './wires/run.js';

// About three times the usual duration on two cores.
const LIMIT_MS = 900_000;

export interface ConformanceOptions {
  readonly databaseUrl: string;
  /** Null when it could not be installed: then this service is tested alone. */
  readonly portkey: InstalledPortkey | null;
  /** Absent: all operations. */
  readonly only?: string | undefined;
  readonly progress: {
    line(text: string): void;
    step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
  };
  readonly signal: AbortSignal;
}

type LimitedOptions = ConformanceOptions & { readonly other: RunningPortkey | null };

const EMBEDDINGS_SUITE: Suite = {
  title: 'Embeddings',
  rows: PROVIDER_ROWS,
  sections: [
    ['responses', ANSWER_CHECKS],
    ['failures of a provider', FAILURE_CHECKS],
  ],
};

/** The results of every operation, this service's first. The other gateway's failures do not count. */
export async function runConformance(options: ConformanceOptions): Promise<readonly Comparison[]> {
  const signal = withLimit(options.signal);
  const other = await startOther({ ...options, signal });
  try {
    const limited = { ...options, signal, other };
    const comparisons: Comparison[] = [];
    for (const [name, checkOperation] of Object.entries(OPERATIONS))
      if (options.only === undefined || options.only === name)
        comparisons.push(await checkOperation(limited));
    return comparisons;
  } finally {
    await other?.stop();
  }
}

const OPERATIONS = { embeddings: checkEmbeddings, chat: checkChat, wires: checkWires };

async function checkEmbeddings(options: LimitedOptions): Promise<Comparison> {
  const { progress, signal, other } = options;
  const providers = await startEveryProvider();
  const service = await progress.step('Starting signalbox', () =>
    startService(providers, inHouseCatalogue(), options),
  );
  try {
    const gateways = [
      signalboxGateway(service, signal),
      ...(other ? [portkeyGateway(other, providers, signal)] : []),
    ];
    return await compare(EMBEDDINGS_SUITE, gateways, options, (gateway) =>
      runChecks(gateway, providers, signal),
    );
  } finally {
    await service.stop();
    await providers.close();
  }
}

async function checkChat(options: LimitedOptions): Promise<Comparison> {
  const { progress, signal, other } = options;
  const providers = await startEveryChatProvider();
  const service = await progress.step('Starting signalbox with chat models', () =>
    startService(providers, providers.catalogue, options),
  );
  try {
    const gateways = [signalboxChat(service), ...(other ? [portkeyChat(other, providers)] : [])];
    return await compare(CHAT_SUITE, gateways, options, (gateway) =>
      runChatChecks(gateway, providers, signal),
    );
  } finally {
    await service.stop();
    await providers.close();
  }
}

async function checkWires(options: LimitedOptions): Promise<Comparison> {
  const { progress, signal, other } = options;
  const stubs = await startWireStubs();
  const service = await progress.step('Starting signalbox with a model of each wire', () =>
    startService(stubs, stubs.catalogue, options),
  );
  try {
    const gateways = [signalboxWires(service), ...(other ? [portkeyWires(other, stubs)] : [])];
    return await compare(WIRES_SUITE, gateways, options, (gateway) => runWireChecks(gateway, stubs, signal));
  } finally {
    await service.stop();
    await stubs.close();
  }
}

/** The first gateway is this service. */
async function compare<Gateway extends CheckedGateway>(
  suite: Suite,
  gateways: readonly Gateway[],
  { progress }: ConformanceOptions,
  run: (gateway: Gateway) => Promise<Outcomes>,
): Promise<Comparison> {
  const results = new Map<Gateway, Outcomes>();
  for (const gateway of gateways)
    results.set(gateway, await progress.step(`Asking ${gateway.name}`, () => run(gateway)));
  progress.line(`\n${writeResults(suite, results)}\n`);
  return { suite, results };
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

async function startOther({ portkey, progress, signal }: ConformanceOptions): Promise<RunningPortkey | null> {
  if (!portkey) return null;
  try {
    return await progress.step('Starting Portkey', () => startPortkey(portkey, signal));
  } catch (error) {
    signal.throwIfAborted();
    progress.line(`Portkey does not start: only signalbox is checked. ${String(error)}`);
    return null;
  }
}

function writeResults(suite: Suite, results: Comparison['results']): string {
  const all = [...results];
  const reasons = all.map(([{ name }, outcomes]) => [name, writeReasons(outcomes)] as const);
  return [
    ...all.map(([{ name }, outcomes]) => writeTables(suite, name, outcomes)),
    writeLegend(suite, [...results.keys()]),
    ...reasons.flatMap(([name, lines]) => (lines === '' ? [] : [`${name}: problems\n${lines}`])),
    all.map(([{ name }, outcomes]) => writeSummary(name, outcomes)).join('\n'),
  ].join('\n\n');
}
