// Clients that leave at random moments of their chats.
import { fileURLToPath } from 'node:url';
import { checkChats, untilCalm } from '../../replicas/chat/leftovers.js';
import type { Lab } from '../../replicas/lab.js';
import { callAtOnce, startLoad } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import type { Replica } from '../../replicas/replica.js';
import { createLimitedKey } from '../money.js';
import { inLab } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';
import { openFiles } from '../../replicas/watch.js';

const ABORTS = 10_000;
// Caches and compiled code are at their size afterwards.
const WARM_UP_ABORTS = 2_000;
const CLIENTS = 64;
// A tenth of the calls streams nothing, and is read to its end after its client has left.
const CHAT = { chunks: 15, pause: 10, streamed: 0.9, leavesWithin: 200 };
const PERMITS = 128;
const TOLERATED_BYTES = 4 * 1024 * 1024;
const TOLERATED_FILES = 10;
const BETWEEN_LOOKS_MS = 50;
// Idle connections to providers and to PostgreSQL are closed within this time.
const IDLE_TIMEOUT_MS = 30_000;

const REPLICA = {
  preload: fileURLToPath(new URL('../../support/heap-gauge.mjs', import.meta.url)),
  environment: {
    MAX_CHATS_IN_FLIGHT: String(PERMITS),
    CHAT_ENDPOINT_CONCURRENCY: String(PERMITS),
  },
};

interface Resources {
  readonly heap: number;
  readonly files: number;
}

function onlyReplica({ replicas: [replica] }: Lab): Replica {
  if (!replica) throw new Error('there is no replica');
  return replica;
}

async function measure(lab: Lab): Promise<Resources> {
  const replica = onlyReplica(lab);
  const heard = replica.hear();
  replica.signal('SIGUSR2');
  const [heap] = (await heard) as [number];
  return { heap, files: await openFiles(replica.pid) };
}

/** Idle connections end by themselves, a leak does not: waits for the first count of at most `most`. */
async function filesAfterIdling(lab: Lab, most: number): Promise<number> {
  const deadline = performance.now() + IDLE_TIMEOUT_MS;
  for (;;) {
    const files = await openFiles(onlyReplica(lab).pid);
    if (files <= most || performance.now() > deadline) return files;
    await lab.wait(BETWEEN_LOOKS_MS);
  }
}

async function abort(lab: Lab, key: string, aborts: number): Promise<LoadReport> {
  const load = startLoad(lab, { key, clients: CLIENTS, chat: CHAT, pauseAfterFailure: 0 });
  while (load.report.left.length < aborts) await lab.wait(BETWEEN_LOOKS_MS);
  await load.stop();
  return load.report;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

export const chatAborts: Scenario = {
  name: `Chats: ${ABORTS} aborts at random moments`,
  run: (context) =>
    inLab(context, { name: 'chat_aborts', replicas: 1, replicaOptions: REPLICA }, async (lab) => {
      const key = await createLimitedKey(lab, 100);
      const warmUp = await abort(lab, key, WARM_UP_ABORTS);
      await untilCalm(lab);
      const before = await measure(lab);
      const aborted = await abort(lab, key, ABORTS);
      const held = await untilCalm(lab);
      const after = await measure(lab);
      const files = await filesAfterIdling(lab, before.files + TOLERATED_FILES);
      // Each needs a permit of the process and of the endpoint: none may be missing.
      const permits = createReport();
      await callAtOnce(lab, PERMITS, { key, chat: { chunks: 10, pause: 100 } }, permits);
      const [charged] = await lab.sql<{ count: string }>('SELECT count(*) FROM generations WHERE cost > 0');
      const [grown, opened] = [after.heap - before.heap, files - before.files];
      const problems = [
        ...held,
        ...(permits.seen.length === PERMITS
          ? []
          : [`only ${permits.seen.length} of ${PERMITS} permits are left`]),
        ...(grown > TOLERATED_BYTES ? [`the heap grew by ${megabytes(grown)}`] : []),
        ...(opened > TOLERATED_FILES ? [`open files grew by ${opened}`] : []),
        ...(Number(charged?.count) < lab.chats.asked
          ? [`the provider had ${lab.chats.asked} requests, of which ${charged?.count} were charged`]
          : []),
      ];
      return checkChats(lab, [warmUp, aborted, permits], {
        problems,
        remarks: [
          `${warmUp.left.length + aborted.left.length} clients left; the provider had ${lab.chats.asked} requests, ` +
            `${charged?.count} were charged`,
          `heap in use ${megabytes(before.heap)} before, ${megabytes(after.heap)} after; open files ${before.files}, ${after.files}, ${files} once idle`,
        ],
      });
    }),
};
