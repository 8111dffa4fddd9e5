// Memory of streams that are open and quiet.
import { inRepository } from '../../../scripts/support/repository.mjs';
import { sleep } from '../../../scripts/support/processes.mjs';
import { startProgram } from './children.mjs';
import { CHAT_ENVIRONMENT, openService } from './gateways.mjs';
import { chatJob, GATEWAY_NAMES } from './measuring.mjs';
import { whole } from '../../support/statistics.ts';
import { memoryMebibytes } from './usage.mjs';

const GAUGE = ['--import', inRepository('lab', 'support', 'heap-gauge.mjs')];
/** The second chunk never comes. */
const OPEN = { chunks: 2, interval: 3_600_000 };
const WARM_UP = { stream: { chunks: 20, interval: 0 }, connections: 50, seconds: 4 };
const SETTLE_MS = 2_000;

async function collected(testbed, { pid }) {
  process.kill(pid, 'SIGUSR2');
  await sleep(SETTLE_MS, testbed.signal);
  return memoryMebibytes(pid);
}

const openers = {
  service: (testbed) =>
    openService(
      { ...testbed, nodeArguments: GAUGE },
      { environment: CHAT_ENVIRONMENT, hasDestination: false },
    ),
  pipe: async (testbed) => {
    const child = await startProgram('pipe-process.mjs', {
      environment: { UPSTREAM_ORIGIN: testbed.upstreamOrigin },
      nodeArguments: GAUGE,
      signal: testbed.signal,
    });
    testbed.onClose(child.stop);
    const { origin } = child.message;
    return { kind: 'pipe', url: `${origin}/v1/embeddings`, headers: {}, pid: child.process.pid };
  },
};

/** For each number of streams: the rows of a table, and KiB a stream by kind of gateway. */
export async function memoryOfStreams(testbed, counts) {
  const measured = counts.map((streams) => ({ streams, kibibytes: {}, rows: [] }));
  for (const [kind, open] of Object.entries(openers)) {
    const gateway = await open(testbed);
    const { stream, ...load } = WARM_UP;
    await testbed.runLoad({ ...chatJob(gateway, stream), ...load });
    for (const { streams, kibibytes, rows } of measured) {
      const before = await collected(testbed, gateway);
      await testbed.runLoad({ ...chatJob(gateway, OPEN), connections: streams, staysOpen: true });
      await sleep(SETTLE_MS, testbed.signal);
      const withThem = await collected(testbed, gateway);
      await testbed.runLoad({ releases: true });
      await sleep(SETTLE_MS, testbed.signal);
      kibibytes[kind] = ((withThem - before) * 1024) / streams;
      rows.push([
        GATEWAY_NAMES[kind],
        whole(streams),
        whole(before),
        whole(withThem),
        kibibytes[kind].toFixed(1),
      ]);
    }
  }
  return measured;
}
