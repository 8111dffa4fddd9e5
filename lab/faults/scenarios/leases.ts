// A replica that the others cannot see, in the midst of streams that hold the whole limit of a key: its money stays its own,
// and the spend never exceeds the limit.
import { startTcpProxy } from '../../../test/support/upstreams/tcp-proxy.js';
import type { TcpProxy } from '../../../test/support/upstreams/tcp-proxy.js';
import { checkChats } from '../../replicas/chat/leftovers.js';
import type { Lab } from '../../replicas/lab.js';
import { callAtOnce, callOnce, startLoad } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import type { Replica } from '../../replicas/replica.js';
import { inLab, inLabWithStandby } from '../../replicas/scenario.js';
import type { Scenario, ScenarioResult } from '../../replicas/scenario.js';
import { createLimitedKey, spentOf } from '../money.js';
import { untilStreaming } from './chats.js';

const STREAMS = 20;
const STREAMED = { chunks: 100, pause: 5, promptTokens: 250, waitsFor: 'the return' };
// USD: the reservations of all streams, and less than that of one more.
const LIMIT = 0.0065;
const SMALL = { chunks: 10, pause: 0, promptTokens: 250 };
// USD: above the reservation of a small call.
const LARGEST_BOUND = 0.0002;
// Twice the life of a lease without calls.
const AWAY_MS = 60_000;
const SPENDING_TIMEOUT_MS = 90_000;

interface Absence {
  begin(): Promise<unknown> | void;
  end(): Promise<unknown> | void;
}

/** `hidden` holds the limit while the other replica is asked for money, and comes back. */
async function whileHidden(lab: Lab, hidden: Replica, absence: Absence): Promise<ScenarioResult> {
  const [visible] = lab.replicas;
  if (!visible) throw new Error('a second replica is needed');
  const key = await createLimitedKey(lab, LIMIT);
  const report = createReport();
  const streams = callAtOnce(lab, STREAMS, { key, chat: STREAMED, replicas: [hidden] }, report);
  await untilStreaming(lab, () => report.streaming, STREAMS);
  await absence.begin();
  const awayAt = performance.now();
  const load = startLoad(lab, { key, clients: 4, chat: SMALL, replicas: [visible] });
  await lab.wait(AWAY_MS);
  await absence.end();
  const away = Math.round((performance.now() - awayAt) / 1_000);
  const during = load.report.seen.length;
  lab.replicas.push(hidden);
  await lab.untilReady();
  lab.chats.release(STREAMED.waitsFor);
  await streams;
  await load.stop();
  const backAt = performance.now();
  const rest = createReport();
  while (!rest.rejections.has(402) && performance.now() - backAt < SPENDING_TIMEOUT_MS)
    await callOnce(lab, visible, { key, chat: SMALL }, rest);
  const spent = await spentOf(lab);
  const problems: string[] = [];
  if (spent > LIMIT) problems.push(`${spent} USD were spent of a limit of ${LIMIT} USD`);
  if (spent + 2 * LARGEST_BOUND < LIMIT) problems.push(`only ${spent} USD of ${LIMIT} USD could be spent`);
  if (report.seen.length !== STREAMS)
    problems.push(`${report.seen.length} of ${STREAMS} streams ended whole`);
  const remark =
    `limit ${LIMIT} USD, spent ${spent} USD; ${during} calls of the other replica were answered during the ${away} s, ` +
    `and the rest was spent ${Math.round((performance.now() - backAt) / 1_000)} s after the return`;
  return checkChats(lab, [report, load.report, rest], { problems, remarks: [remark] });
}

/** A replica whose connections to all servers of the database can be cut. */
async function startBehindProxies(lab: Lab): Promise<{ hidden: Replica; proxies: TcpProxy[] }> {
  const servers = [...lab.databaseUrl.matchAll(/127\.0\.0\.1:(\d+)/g)];
  const proxies: TcpProxy[] = [];
  let url = lab.databaseUrl;
  for (const [address, port] of servers) {
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(port) });
    proxies.push(proxy);
    url = url.replace(address, `127.0.0.1:${proxy.port}`);
  }
  if (proxies.length === 0) throw new Error('the address of the database has no port');
  return { hidden: await lab.startReplica({ environment: { DATABASE_URL: url } }), proxies };
}

async function whileCutOff(lab: Lab, atCut: () => Promise<unknown> | void): Promise<ScenarioResult> {
  const { hidden, proxies } = await startBehindProxies(lab);
  try {
    return await whileHidden(lab, hidden, {
      begin: () => {
        for (const proxy of proxies) proxy.cut();
        return atCut();
      },
      end: () => {
        for (const proxy of proxies) proxy.repair();
      },
    });
  } finally {
    for (const proxy of proxies) await proxy.close();
  }
}

export const leasesOfCutOff: Scenario = {
  name: 'Leases: a replica cut off from the database',
  run: (context) =>
    inLab(context, { name: 'leases_cut', replicas: 1 }, (lab) => whileCutOff(lab, () => undefined)),
};

export const leasesOfFailover: Scenario = {
  name: 'Leases: a replica cut off from the database, and a failover',
  run: (context) =>
    inLabWithStandby(context, { name: 'leases_failover', replicas: 1 }, (lab, pair) =>
      whileCutOff(lab, async () => {
        pair.crash();
        await pair.promote();
        await lab.untilReady();
      }),
    ),
};

export const leasesOfStopped: Scenario = {
  name: 'Leases: a replica stopped (SIGSTOP) and continued',
  run: (context) =>
    inLab(context, { name: 'leases_stopped', replicas: 1 }, async (lab) => {
      const hidden = await lab.startReplica();
      return whileHidden(lab, hidden, {
        begin: () => hidden.signal('SIGSTOP'),
        end: () => hidden.signal('SIGCONT'),
      });
    }),
};
