// Deliveries under load: lag, losses and repeats, with processes killed at random and a destination that is unreachable
// for a while, and their cost for calls. Loopback only.
//
//   npm run lab -- deliveries --seconds 60 --rate 100 --kills 5 --outage 20
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { sleep } from '../../scripts/support/processes.mjs';
import { createMigratedDatabase, startReplica, startService } from '../bench/testbed/service.mjs';
import { openTestbed } from '../bench/testbed/testbed.mjs';
import { milliseconds, percentile } from '../support/statistics.ts';

const OPTIONS = {
  seconds: { type: 'string', default: '30' },
  rate: { type: 'string', default: '100' },
  kills: { type: 'string', default: '0' },
  outage: { type: 'string', default: '0' },
  destinations: { type: 'string', default: '1' },
};
const DRAIN_TIMEOUT_MS = 120_000;
const BARE_SECONDS = 20;
const BODY = JSON.stringify({ model: 'local/hashing', dimensions: 64, input: 'how long does a trace take' });
const agent = new Agent({ connections: 256 });

/** Accepts traces, hangs, or answers 503, and records the arrival of each generation. */
async function startSink(testbed) {
  const arrivals = new Map();
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
      const text = Buffer.concat(chunks).toString();
      for (const [, id] of text.matchAll(/"(gen-[0-9a-f]{32})"/g)) {
        const seen = arrivals.get(id);
        if (seen) seen.count++;
        else arrivals.set(id, { at: performance.now(), count: 1 });
      }
      response.writeHead(200).end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  testbed.onClose(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    arrivals,
    be: (next) => {
      mode = next;
    },
  };
}

/** Records an answered call. A call that meets a killed process has no answer and does not count. */
async function callOnce(baseUrl, key, calls) {
  const startedAt = performance.now();
  try {
    const { statusCode, headers, body } = await request(`${baseUrl}/embeddings`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: BODY,
    });
    await body.text();
    const answeredAt = performance.now();
    if (statusCode !== 200) return;
    calls.push({ id: headers['x-generation-id'], answeredAt, latency: answeredAt - startedAt });
  } catch (error) {
    if (!error.code) throw error;
  }
}

/** Calls at a fixed rate, each to the next live replica. Resolves with the answered ones. */
async function load({ replicas, key, signal }, { seconds, rate }) {
  const calls = [];
  const begunAt = performance.now();
  const pending = new Set();
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent++) {
    const wait = begunAt + (sent * 1000) / rate - performance.now();
    if (wait > 0) await sleep(wait, signal);
    const { baseUrl } = replicas[sent % replicas.length].message;
    const call = callOnce(baseUrl, key, calls).finally(() => pending.delete(call));
    pending.add(call);
  }
  await Promise.all(pending);
  return calls;
}

/** Kills one replica after the other, and replaces each. */
async function killAndReplace({ replicas, environment, signal }, { kills, seconds }) {
  for (let count = 0; count < kills && !signal.aborted; count++) {
    await sleep(((seconds * 1000) / kills) * (0.5 + Math.random() / 2), signal);
    const index = count % replicas.length;
    const { process: child } = replicas[index];
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    replicas[index] = await startReplica({ environment, signal });
  }
}

async function startReplicas(testbed) {
  const { signal, upstreamOrigin } = testbed;
  const databaseUrl = await createMigratedDatabase(testbed.server, { name: 'deliveries', signal });
  const service = await startService({
    databaseUrl,
    upstreamOrigin,
    environment: { LOG_LEVEL: 'fatal' },
    signal,
  });
  const { environment, key, createDestination } = service;
  const replicas = [service.replica];
  testbed.onClose(() => {
    for (const { process: child } of replicas) child.kill('SIGKILL');
  });
  replicas.push(await startReplica({ environment, signal }));
  return { replicas, environment, key, createDestination, signal };
}

function report({ progress }, { bare, calls, arrivals }) {
  const answered = new Set(calls.map(({ id }) => id));
  const lost = [...answered].filter((id) => !arrivals.has(id)).length;
  const repeated = [...arrivals.values()].reduce((sum, { count }) => sum + count - 1, 0);
  const lags = calls.flatMap(({ id, answeredAt }) => {
    const arrival = arrivals.get(id);
    return arrival ? [Math.max(arrival.at - answeredAt, 0)] : [];
  });
  const shown = (values) =>
    `p50 ${milliseconds(percentile(values, 0.5))}, p99 ${milliseconds(percentile(values, 0.99))}`;
  const latencies = (list) => list.map(({ latency }) => latency);
  for (const [what, figure] of [
    ['calls answered', answered.size],
    ['seen by a client, lost', lost],
    ['arrived more than once', repeated],
    ['lag', shown(lags)],
    ['latency without', shown(latencies(bare))],
    ['latency with', shown(latencies(calls))],
  ])
    progress.line(`${what.padEnd(24)}${figure}`);
  return lost === 0 ? 0 : 1;
}

export async function run(args, { progress, signal }) {
  const options = Object.fromEntries(
    Object.entries(parseArgs({ args, options: OPTIONS }).values).map(([name, text]) => [name, Number(text)]),
  );
  const { seconds, rate, outage, destinations } = options;
  const testbed = await openTestbed({ progress, signal, withPeer: false });
  try {
    const service = await startReplicas(testbed);
    const bare = await progress.step('Calls without destinations', () =>
      load(service, { seconds: Math.min(seconds, BARE_SECONDS), rate }),
    );
    const sinks = [];
    for (let count = 0; count <= destinations; count++) sinks.push(await startSink(testbed));
    for (const { url } of sinks) await service.createDestination('webhook', { url });
    const [healthy] = sinks;
    sinks.at(-1).be('hang');
    if (outage > 0) {
      healthy.be('refuse');
      setTimeout(() => healthy.be('take'), outage * 1000).unref();
    }
    const [calls] = await progress.step(`Calls with ${destinations} destination(s) and one that hangs`, () =>
      Promise.all([load(service, options), killAndReplace(service, options)]),
    );
    const { arrivals } = healthy;
    const deadline = performance.now() + DRAIN_TIMEOUT_MS + outage * 1000;
    await progress.step('Draining', async () => {
      while (performance.now() < deadline && calls.some(({ id }) => !arrivals.has(id)))
        await sleep(100, signal);
    });
    return report(testbed, { bare, calls, arrivals });
  } finally {
    await agent.destroy();
    await testbed.close();
  }
}
