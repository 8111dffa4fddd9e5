// Measures deliveries on one machine: lag, losses and repeats under load, with processes killed at random and a
// destination that is unreachable for a while, and their cost for calls. Loopback only; ends by itself.
//
//   npm run bench:delivery -- --seconds 60 --rate 100 --kills 5 --outage 20
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { migrate } from '../scripts/migrate.mjs';
import { setup } from '../scripts/setup.mjs';
import { catchInterruptions, reportFailure } from '../scripts/support/interruption.mjs';
import { createProgress } from '../scripts/support/progress.mjs';
import { openScratchServer } from '../scripts/support/scratch-server.mjs';
import { createKey, startReplica, serviceEnvironment } from './support/service.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100' },
    kills: { type: 'string', default: '0' },
    outage: { type: 'string', default: '0' },
    destinations: { type: 'string', default: '1' },
  },
});
const seconds = Number(options.seconds);
const rate = Number(options.rate);
const kills = Number(options.kills);
const outage = Number(options.outage);
const DRAIN_TIMEOUT_MS = 120_000;
const REPLICAS = 2;
const agent = new Agent({ connections: 256 });

const percentile = (numbers, part) => {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
};
const shown = (milliseconds) => `${milliseconds.toFixed(1)} ms`;

/** Accepts traces, hangs, or answers 503, and records the arrival of each generation. */
async function startSink() {
  const arrivals = new Map();
  const order = [];
  let mode = 'take';
  const server = createServer((incoming, response) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      if (mode === 'hang') return;
      if (mode === 'refuse') {
        response.writeHead(503).end();
        return;
      }
      for (const [, id] of Buffer.concat(chunks)
        .toString()
        .matchAll(/"(gen-[0-9a-f]{32})"/g)) {
        const seen = arrivals.get(id);
        if (seen) seen.count++;
        else arrivals.set(id, { at: performance.now(), count: 1 });
        order.push(id);
      }
      response.writeHead(200).end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    arrivals,
    order,
    be: (next) => {
      mode = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const post = async (url, key, body) => {
  const answer = await request(url, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text };
};

/** Records an answered call. A call that meets a killed process has no answer and does not count. */
async function callOnce(baseUrl, key, calls) {
  const startedAt = performance.now();
  try {
    const body = { model: 'local/hashing', dimensions: 64, input: 'how long does a trace take' };
    const { status, headers } = await post(`${baseUrl}/embeddings`, key, body);
    const answeredAt = performance.now();
    if (status !== 200) return;
    calls.push({ id: headers['x-generation-id'], answeredAt, latency: answeredAt - startedAt });
  } catch (error) {
    if (!error.code) throw error;
  }
}

/** Calls at a fixed rate, each to the next live replica. */
async function load(replicas, key, forSeconds, calls, signal) {
  const begunAt = performance.now();
  const pending = new Set();
  for (let sent = 0; sent < forSeconds * rate && !signal.aborted; sent++) {
    const wait = begunAt + (sent * 1000) / rate - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const { baseUrl } = replicas[sent % replicas.length].message;
    const call = callOnce(baseUrl, key, calls).finally(() => pending.delete(call));
    pending.add(call);
  }
  await Promise.all(pending);
}

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  const server = await openScratchServer({ progress, signal });
  const sinks = [];
  const replicas = [];
  try {
    const { url } = await server.createDatabase('bench');
    await migrate({ databaseUrl: url, log: () => undefined, signal });
    const environment = {
      ...serviceEnvironment(url),
      LOG_LEVEL: 'fatal',
      RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
    };
    const managementKey = await createKey(environment, ['--management'], signal);
    const key = await createKey(environment, [], signal);
    for (let count = 0; count < REPLICAS; count++) replicas.push(await startReplica({ environment, signal }));
    const bare = [];
    await progress.step('Calls without destinations', () =>
      load(replicas, key, Math.min(seconds, 20), bare, signal),
    );
    const createDestination = async (sink) => {
      const { status, text } = await post(
        `${replicas[0].message.baseUrl}/observability/destinations`,
        managementKey,
        {
          type: 'webhook',
          name: 'Bench',
          config: { url: sink.url },
        },
      );
      if (status !== 201) throw new Error(`a destination was not created: ${text}`);
    };
    for (let count = 0; count < Number(options.destinations); count++) sinks.push(await startSink());
    const dead = await startSink();
    dead.be('hang');
    for (const sink of [...sinks, dead]) await createDestination(sink);
    sinks.push(dead);
    const [healthy] = sinks;
    const calls = [];
    const killing = (async () => {
      for (let count = 0; count < kills && !signal.aborted; count++) {
        await new Promise((resolve) =>
          setTimeout(resolve, ((seconds * 1000) / kills) * (0.5 + Math.random() / 2)),
        );
        const index = count % replicas.length;
        const { process: child } = replicas[index];
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
        replicas[index] = await startReplica({ environment, signal });
      }
    })();
    if (outage > 0) {
      healthy.be('refuse');
      setTimeout(() => healthy.be('take'), outage * 1000).unref();
    }
    await progress.step(`Calls with ${options.destinations} destination(s) and one that hangs`, () =>
      load(replicas, key, seconds, calls, signal),
    );
    await killing;
    const answered = new Set(calls.map(({ id }) => id));
    const deadline = performance.now() + DRAIN_TIMEOUT_MS + outage * 1000;
    await progress.step('Draining', async () => {
      while (performance.now() < deadline && [...answered].some((id) => !healthy.arrivals.has(id)))
        await new Promise((resolve) => setTimeout(resolve, 100));
    });
    const lags = calls.flatMap(({ id, answeredAt }) => {
      const arrival = healthy.arrivals.get(id);
      return arrival ? [Math.max(arrival.at - answeredAt, 0)] : [];
    });
    const lost = [...answered].filter((id) => !healthy.arrivals.has(id)).length;
    const repeated = [...healthy.arrivals.values()].reduce((sum, { count }) => sum + count - 1, 0);
    const latencies = (list) => list.map(({ latency }) => latency);
    progress.line(
      `calls answered          ${answered.size} at ${rate}/s, ${kills} kill(s), outage ${outage} s`,
    );
    progress.line(`seen by a client, lost  ${lost}`);
    progress.line(`arrived more than once  ${repeated}`);
    progress.line(
      `lag                     p50 ${shown(percentile(lags, 0.5))}, p99 ${shown(percentile(lags, 0.99))}`,
    );
    progress.line(
      `latency without         p50 ${shown(percentile(latencies(bare), 0.5))}, p99 ${shown(percentile(latencies(bare), 0.99))}`,
    );
    progress.line(
      `latency with            p50 ${shown(percentile(latencies(calls), 0.5))}, p99 ${shown(percentile(latencies(calls), 0.99))}`,
    );
    return lost === 0 ? 0 : 1;
  } finally {
    for (const { process: child } of replicas) child.kill('SIGKILL');
    for (const sink of sinks) sink.close();
    await agent.destroy();
    await server.close();
  }
}

process.exit(await run().catch(reportFailure));
