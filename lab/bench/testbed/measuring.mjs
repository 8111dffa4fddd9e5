// One measurement of one gateway, and rounds of them in turns.
import { promptOf } from '../load/chat-stream.mjs';
import { callBodies } from '../load/known-vectors.mjs';
import { cpuSeconds, memoryMebibytes } from './usage.mjs';

/** The gateways of every comparison by kind, in the order of the tables. */
export const GATEWAY_NAMES = {
  service: 'signalbox',
  pipe: 'bare Node pipe',
  nest: 'bare Nest gateway',
  peer: 'Portkey',
};
export const COMPARED = Object.keys(GATEWAY_NAMES);

// Before every measurement: a gateway that was idle during the others' turns is slower for about a second.
export const WARM_UP_SECONDS = 1;
/**
 * Before a gateway's very first measurement with one kind of call: Node compiles hot code in steps, and is several
 * times as slow until then. The number is for each process that answers, the same for all gateways, over many
 * connections. The quick run's is too small for the slowest to compile.
 */
export const FIRST_WARM_UP = {
  full: { calls: 120_000, mostSeconds: 30 },
  quick: { calls: 30_000, mostSeconds: 8 },
};
const FIRST_WARM_UP_CONNECTIONS = 50;

/** Warmed-up combinations of process, address and kind of call. */
const warmedUp = new Set();

/** Measures every row once in each round, so that disturbances of the machine affect all rows alike. */
export async function alternately({ rounds, rows, measureRow }) {
  const results = new Map(rows.map((row) => [row, []]));
  for (let round = 1; round <= rounds; round++)
    for (const row of rows) results.get(row).push(await measureRow(row));
  return results;
}

/**
 * For measurements that short rounds make as exact: more rounds in the same time, so that a disturbance affects
 * fewer.
 */
export function shorterRounds({ rounds, seconds, ...others }) {
  return { ...others, rounds: 2 * rounds, seconds: seconds / 2 };
}

/** The job of a gateway: `call` has inputs, format and dimensions. */
export function embeddingsJob({ url, headers, model }, call) {
  const kind = `${call.inputs} ${call.format}`;
  return { url, headers, bodies: callBodies(call, model), checksVectors: true, kind };
}

/** The job of streamed chats: `stream` has the number of chunks and the milliseconds between them. */
export function chatJob({ kind, url, headers }, stream) {
  const model = kind === 'service' ? 'openai/gpt-4.1-mini' : 'gpt-4.1-mini';
  return {
    url: url.replace(/\/embeddings$/, '/chat/completions'),
    headers,
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: promptOf(stream) }],
      max_tokens: stream.chunks,
      stream: true,
      stream_options: { include_usage: true },
    }),
    chunks: stream.chunks,
    spreadOver: stream.chunks * stream.interval,
    kind: `chat ${stream.interval}`,
  };
}

async function warmUp(testbed, gateway, job) {
  const run = async (more) => {
    const { calls } = await testbed.runLoad({ ...job, ...more });
    await gateway.settle?.(calls);
    return calls;
  };
  const what = `${gateway.pid} ${job.url} ${job.kind}`;
  const { processes = 1 } = gateway;
  const first = job.firstWarmUp ?? FIRST_WARM_UP[testbed.isQuick ? 'quick' : 'full'];
  const wanted = warmedUp.has(what) ? 0 : processes * first.calls;
  warmedUp.add(what);
  const mostSeconds = processes * first.mostSeconds;
  let calls = 0;
  for (let seconds = 0; calls < wanted && seconds < mostSeconds; seconds++)
    calls += await run({ rate: undefined, seconds: 1, connections: FIRST_WARM_UP_CONNECTIONS });
  await run({ seconds: WARM_UP_SECONDS });
}

/**
 * Runs a job and adds the processor time of the gateway's process. For this service it includes the database's, until
 * every call has also reached its destination.
 */
export async function measureLoad(testbed, gateway, job) {
  await warmUp(testbed, gateway, job);
  const usage = () => ({
    gateway: gateway.pid === undefined ? 0 : cpuSeconds(gateway.pid),
    database: gateway.databasePid === undefined ? 0 : cpuSeconds(gateway.databasePid),
  });
  const before = usage();
  const begunAt = process.hrtime.bigint();
  const result = await testbed.runLoad(job);
  const memory = gateway.pid === undefined ? 0 : memoryMebibytes(gateway.pid);
  await gateway.settle?.(result.calls);
  const after = usage();
  const perThousand = (part) => ((after[part] - before[part]) * 1000) / result.calls;
  return { ...result, begunAt, memory, cpu: perThousand('gateway'), databaseCpu: perThousand('database') };
}

/** A row of the summary: one figure of each gateway. */
export const summaryRow = (what, gateways, figureOf) => ({
  what,
  figures: Object.fromEntries(gateways.map((gateway) => [gateway.kind, figureOf(gateway)])),
});

/** The gateways of these kinds that this machine has. */
export async function openGateways(testbed, kinds) {
  const gateways = [];
  for (const kind of kinds) {
    const gateway = await testbed.progress.step(`Starting: ${kind}`, () => testbed.gateway(kind));
    if (gateway === null) testbed.progress.line(`${kind}: not here, left out`);
    else gateways.push(gateway);
  }
  return gateways;
}
