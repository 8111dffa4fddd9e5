// A long run: embeddings of several sizes, chats with and without a stream, operations and lists all at once, a fault every minute, and at the end the
// ledger, and whether anything has grown.
import {
  DATABASE_FAULTS,
  DESTINATION_FAULTS,
  lasting,
  replicaKilled,
  UPSTREAM_FAULTS,
} from '../replicas/faults.js';
import { openLab } from '../replicas/lab.js';
import { startLoad } from '../replicas/load.js';
import { createRandom } from '../../test/support/random.js';
import { operate } from './operations.js';
import type { OperationReport } from './operations.js';
import { writeSoakPage } from './report.js';
import { check } from '../replicas/scenario.js';
import type { FaultOptions, RunEnd } from '../replicas/scenario.js';
import { watch } from '../replicas/watch.js';
import type { Sample } from '../replicas/watch.js';
import { median, megabytes } from '../support/statistics.js';

const MINUTE_MS = 60_000;
const FAULT_MS = 8_000;
// Parts of the watch: a warm-up, and the compared parts at its beginning and its end.
const WARM_UP = 0.2;
const COMPARED = 0.2;
// Bytes that a process may have grown by between the two.
const TOLERATED_BYTES = 64 * 1024 * 1024;
const TOLERATED_FILES = 40;
const LOADS = [
  { clients: 4, pause: 100, sizes: [1, 2, 5] },
  { clients: 2, pause: 500, sizes: [50, 200] },
  { clients: 1, pause: 2_000, sizes: [600], dimensions: 512 },
  { clients: 4, pause: 100, chat: { chunks: 20, pause: 20, streamed: 0.7 } },
  { clients: 2, pause: 100, chat: { chunks: 40, pause: 50, leavesWithin: 3_000 } },
] as const;
const BETWEEN_OPERATIONS_MS = 500;

export interface SoakOptions extends Omit<FaultOptions, 'only'> {
  readonly minutes: number;
}

const FAULTS = [
  lasting(replicaKilled, FAULT_MS),
  ...[...DATABASE_FAULTS, ...UPSTREAM_FAULTS, ...DESTINATION_FAULTS].map((fault) => lasting(fault, FAULT_MS)),
];

export async function runSoak({ context, seed, minutes, line }: SoakOptions): Promise<RunEnd> {
  const random = createRandom(seed);
  const lab = await openLab({ ...context, random, name: 'soak' });
  try {
    const loads = LOADS.map((load) => startLoad(lab, load));
    const operations: OperationReport = { answered: 0, rejected: 0, wrong: [] };
    // The first replica is never killed: what it holds is watched from the beginning to the end.
    const [watched] = lab.replicas;
    if (!watched) throw new Error('there is no replica');
    const watching = watch(lab, watched);
    const ending = new AbortController();
    const operating = (async () => {
      while (!ending.signal.aborted && !lab.signal.aborted) {
        await operate(lab, operations);
        await lab.wait(BETWEEN_OPERATIONS_MS).catch(() => undefined);
      }
    })();
    const endAt = performance.now() + minutes * MINUTE_MS;
    const faults: string[] = [];
    let bag: (typeof FAULTS)[number][] = [];
    while (performance.now() + MINUTE_MS <= endAt) {
      const nextAt = performance.now() + MINUTE_MS;
      // Each once before any comes again.
      if (bag.length === 0) bag = [...FAULTS];
      const [fault] = bag.splice(Math.floor(random() * bag.length), 1);
      if (fault) {
        line(`minute ${faults.length + 1}: ${fault.name}`);
        faults.push(fault.name);
        await fault.run(lab, FAULT_MS);
        await lab.untilReady();
      }
      lab.receiver.forgetRequests();
      lab.upstream.requests.length = 0;
      await lab.wait(Math.max(nextAt - performance.now(), 0));
      const last = watching.samples.at(-1);
      const seen = loads.reduce((sum, { report }) => sum + report.seen.length, 0);
      line(`  ${seen} answers, ${operations.answered} operations, ${describe(last)}`);
    }
    await lab.wait(Math.max(endAt - performance.now(), 0));
    ending.abort();
    await operating;
    await watching.stop();
    await Promise.all(loads.map((load) => load.stop()));
    const growth = compare(watching.samples);
    const grown = [
      ...(growth.resident > TOLERATED_BYTES ? [`memory grew by ${megabytes(growth.resident)}`] : []),
      ...(growth.files > TOLERATED_FILES ? [`open files grew by ${growth.files}`] : []),
    ];
    const { counts, problems, remarks } = await check(
      lab,
      loads.map(({ report }) => report),
      { problems: [...operations.wrong, ...grown] },
    );
    for (const text of [...remarks, ...problems]) line(`  ${text}`);
    const isGood = problems.length === 0;
    return {
      isGood,
      closing: isGood ? '1 passed, 0 failed' : '0 passed, 1 failed',
      page: writeSoakPage({
        seed,
        minutes,
        counts,
        problems,
        remarks,
        faults,
        operations,
        samples: watching.samples,
        growth,
      }),
    };
  } finally {
    await lab.close();
  }
}

function describe(sample: Sample | undefined): string {
  if (!sample) return 'not watched yet';
  return `${megabytes(sample.resident)}, ${sample.files} files, ${sample.connections} connections`;
}

export interface Growth {
  readonly resident: number;
  readonly files: number;
}

/** Medians at the end against those after the warm-up: a single peak is no growth. */
function compare(samples: readonly Sample[]): Growth {
  const begin = Math.floor(samples.length * WARM_UP);
  const length = Math.max(1, Math.floor(samples.length * COMPARED));
  const early = samples.slice(begin, begin + length);
  const late = samples.slice(-length);
  const grown = (member: 'resident' | 'files') =>
    median(late.map((sample) => sample[member])) - median(early.map((sample) => sample[member]));
  return { resident: grown('resident'), files: grown('files') };
}
