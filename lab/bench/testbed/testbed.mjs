// The parts of every scenario: a database server, the stub provider, the receiver of traces, the load, and the
// gateways between them, each started at first use.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '../../../scripts/embedded-database.mjs';
import { resolveDataDirectory } from '../../../scripts/support/database-location.mjs';
import { findPostmaster } from '../../../scripts/support/postmaster.mjs';
import { sleep } from '../../../scripts/support/processes.mjs';
import { createTemporaryDirectory, databaseName } from '../../../scripts/support/temporary-directory.mjs';
import { ask, startProgram } from './children.mjs';
import { GATEWAY_STARTERS, PLAIN_MODEL } from './gateways.mjs';

const DELIVERIES_TIMEOUT_MS = 180_000;

/** `nodeArguments` are for the processes of this service; `keptDirectory` keeps the database for later runs. */
export async function openTestbed(options) {
  const { progress, signal, withPeer, isQuick = false, nodeArguments, keptDirectory } = options;
  const directory = createTemporaryDirectory();
  const closers = [async () => rmSync(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer();
  };
  const startChild = async (program, environment) => {
    const child = await startProgram(program, { environment, signal });
    closers.push(child.stop);
    return child;
  };
  try {
    const databaseDirectory = join(keptDirectory ?? directory, databaseName);
    const server = await progress.step('Starting a database', () =>
      // Settings of a careful operator: every commit is on the disk before it is reported.
      startEmbeddedDatabase({ directory: databaseDirectory, signal }),
    );
    closers.push(() => (keptDirectory === undefined ? server.destroy() : server.stop()));
    const upstream = await startChild('upstream-process.mjs');
    const sink = await startChild('sink-process.mjs');
    const load = await startChild('load-process.mjs');
    const started = new Map();
    const testbed = {
      signal,
      progress,
      directory,
      withPeer,
      isQuick,
      nodeArguments,
      server,
      databasePid: findPostmaster(resolveDataDirectory(databaseDirectory)).identity.pid,
      upstreamOrigin: upstream.message.origin,
      sinkOrigin: sink.message.origin,
      startChild,
      onClose: (closer) => closers.push(closer),
      setUpstreamDelay: (delay) => ask(upstream, { delay }, signal),
      setSinkDelay: (delay) => ask(sink, { delay }, signal),
      /** Resolves when this many spans have arrived at this path of the sink, or below it. */
      untilDelivered: async (path, count) => {
        const deadline = performance.now() + DELIVERIES_TIMEOUT_MS;
        while ((await ask(sink, { path }, signal)).spans < count) {
          if (performance.now() > deadline) throw new Error(`not all of ${count} spans came to ${path}`);
          await sleep(20, signal);
        }
      },
      runLoad: async (job) => {
        const defaults = { method: 'POST', status: 200, headers: {} };
        const { result, failure } = await ask(load, { ...defaults, ...job }, signal);
        if (failure !== undefined) throw new Error(failure);
        return result;
      },
      /** The gateway of this kind, or null if it is not available. One of a kind serves all scenarios. */
      gateway: async (kind) => {
        if (!started.has(kind)) {
          const gateway = await GATEWAY_STARTERS[kind](testbed);
          started.set(kind, gateway && { kind, model: PLAIN_MODEL, headers: {}, ...gateway });
        }
        return started.get(kind);
      },
      close,
    };
    return testbed;
  } catch (error) {
    await close();
    throw error;
  }
}
