// Every way in which a chat can end, at random, while its replicas are killed, stopped and cut off from the database: all
// sums agree, no limit is passed, and each delivered word is charged or counted as unpaid (docs/contract.md#chat-spend).
import { request } from 'undici';
import { startDatabaseProxy } from '../../../test/support/database/database-proxy.js';
import type { DatabaseProxy } from '../../../test/support/database/database-proxy.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { SCRIPT } from '../../replicas/chat/call.js';
import { checkChats } from '../../replicas/chat/leftovers.js';
import { ANSWER_ENDS } from '../../replicas/chat/provider.js';
import type { AnswerEnd, ChatScript } from '../../replicas/chat/provider.js';
import type { FailoverPair } from '../../replicas/cluster.js';
import type { Lab } from '../../replicas/lab.js';
import { createReport, noteRejection, toUuid } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import type { Replica } from '../../replicas/replica.js';
import { inLab, inLabWithStandby } from '../../replicas/scenario.js';
import type { Scenario, ScenarioResult } from '../../replicas/scenario.js';
import { createLimitedKey } from '../money.js';

const MODEL = 'openai/gpt-4.1-mini';
const ROUNDS = 8;
const CALLS = 40;
// USD: less than all calls of a run can cost, so that many meet the limit.
const LIMIT = 0.01;
const BOUND_MS = 2_000;
const FAULT_MS = 4_000;
const CALL_TIMEOUT_MS = 60_000;
// The place of the replica that is killed: its successor returns the money of its calls.
const SECOND = 'second';
const ENVIRONMENT = {
  CHAT_MAX_ANSWER_BYTES: '1000000',
  CHAT_MAX_EVENT_BYTES: '262144',
  CHAT_IDLE_TIMEOUT_MS: String(BOUND_MS),
  CHAT_FIRST_TOKEN_TIMEOUT_MS: String(BOUND_MS),
  CHAT_ANSWER_TIMEOUT_MS: String(BOUND_MS),
  CHAT_SLOW_READER_TIMEOUT_MS: String(BOUND_MS),
  // Most of these answers are broken by intention.
  MAX_UNPAID_USD_PER_KEY_AND_DAY: '0',
};

/** `reads`: to the end. `leaves`: at a random moment. `stops`: takes the first bytes, and then nothing. */
const READERS = ['reads', 'reads', 'leaves', 'stops'] as const;
type Reader = (typeof READERS)[number];

interface Outcome {
  readonly generation: string | null;
  readonly ends: AnswerEnd | 'stalls';
  readonly reader: Reader;
  /** Bytes of content that this client has received. */
  readonly delivered: number;
  /** The replica was killed while the call ran. */
  readonly isOrphan: boolean;
}

interface LoggedCall {
  readonly id: string;
  readonly cost: string;
  readonly upstream: string | null;
}

function pick<Value>(lab: Lab, values: readonly Value[]): Value {
  const value = values[Math.floor(lab.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** One call of any kind. Notes an answer only when it is whole and names its cost. */
async function call(
  lab: Lab,
  replica: Replica,
  key: string,
  report: LoadReport,
  killed: ReadonlySet<Replica>,
): Promise<Outcome> {
  const ends = pick(lab, [...ANSWER_ENDS, 'stalls'] as const);
  const stallsAfter = ends === 'stalls' ? Math.floor(lab.random() * 4) : null;
  const chunks = 1 + Math.floor(lab.random() * 40);
  const script: ChatScript = {
    ...SCRIPT,
    chunks,
    pause: Math.floor(lab.random() * 30),
    stallsAfter,
    ends: ends === 'stalls' ? 'complete' : ends,
  };
  const isStreamed = lab.random() < 0.8;
  const reader = isStreamed ? pick(lab, READERS) : pick(lab, ['reads', 'reads', 'leaves'] as const);
  const leaving = new AbortController();
  const delay = reader === 'leaves' ? lab.random() * 800 : CALL_TIMEOUT_MS;
  const timer = setTimeout(() => leaving.abort(), delay);
  const startedAt = performance.now();
  let generation: string | null = null;
  let text = '';
  let isWhole = false;
  try {
    const { statusCode, headers, body } = await request(`${replica.baseUrl}/chat/completions`, {
      method: 'POST',
      dispatcher: lab.agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        messages: [{ role: 'user', content: JSON.stringify(script) }],
        max_tokens: chunks,
        stream: isStreamed,
      }),
      headersTimeout: CALL_TIMEOUT_MS,
      bodyTimeout: CALL_TIMEOUT_MS,
      signal: leaving.signal,
    });
    generation = toUuid(String(headers['x-generation-id'] ?? '')) || null;
    for await (const piece of body) {
      text += String(piece);
      if (reader === 'stops') await lab.wait(2 * BOUND_MS);
    }
    isWhole = true;
    if (statusCode === 200 && !text.includes('"error":')) {
      const cost = /"cost":([\d.e-]+)/.exec(text.slice(-2_000))?.[1];
      report.seen.push({
        generation: generation ?? '',
        cost: Number(cost),
        at: performance.now(),
        latency: performance.now() - startedAt,
      });
    } else noteRejection(report, isStreamed && statusCode === 200 ? codeIn(text) : statusCode, 0, text);
  } catch {
    if (leaving.signal.aborted) report.left.push(null);
    else report.broken++;
  } finally {
    clearTimeout(timer);
  }
  const hasContent = isStreamed ? /"content":"[^"]/.test(text) : isWhole && /"content":"[^"]/.test(text);
  return {
    generation,
    ends,
    reader,
    delivered: hasContent ? text.length : 0,
    isOrphan: killed.has(replica),
  };
}

/** The status that the error event of a stream states. */
function codeIn(text: string): number {
  return Number(/"error":\{"code":(\d+)/.exec(text)?.[1] ?? 0);
}

interface Surroundings {
  readonly lab: Lab;
  readonly killed: Set<Replica>;
  /** The database as the second replica sees it. */
  readonly proxy: DatabaseProxy | null;
  readonly startSecond: () => Promise<Replica>;
}

type Disturbance = (surroundings: Surroundings) => Promise<void>;

const nothing: Disturbance = async ({ lab }) => lab.wait(FAULT_MS / 2);

const kill: Disturbance = async ({ lab, killed, startSecond }) => {
  const [, second] = lab.replicas;
  if (!second) throw new Error('there is no second replica');
  await lab.wait(lab.random() * 500);
  killed.add(second);
  await second.kill();
  lab.replicas[1] = await startSecond();
};

const stop: Disturbance = async ({ lab }) => {
  const [, second] = lab.replicas;
  await lab.wait(lab.random() * 500);
  second?.signal('SIGSTOP');
  await lab.wait(FAULT_MS);
  second?.signal('SIGCONT');
};

const cut: Disturbance = async ({ lab, proxy }) => {
  await lab.wait(lab.random() * 500);
  proxy?.cut();
  await lab.wait(FAULT_MS);
  proxy?.repair();
};

const restart: Disturbance = async ({ lab }) => {
  lab.cluster.stopAtOnce();
  await lab.wait(500);
  await lab.cluster.restart();
};

async function run(lab: Lab, surroundings: Surroundings, disturbances: readonly Disturbance[]) {
  const key = await createLimitedKey(lab, LIMIT);
  const report = createReport();
  const outcomes: Outcome[] = [];
  for (const disturb of disturbances) {
    const calls = Array.from({ length: CALLS }, (_value, index) => {
      const replica = lab.replicas[index % lab.replicas.length];
      if (!replica) throw new Error('there is no replica');
      return call(lab, replica, key, report, surroundings.killed);
    });
    await disturb(surroundings);
    outcomes.push(...(await Promise.all(calls)));
    await lab.untilReady();
  }
  return compareOutcomes(lab, report, outcomes);
}

async function compareOutcomes(
  lab: Lab,
  report: LoadReport,
  outcomes: readonly Outcome[],
): Promise<ScenarioResult> {
  const result = await checkChats(lab, [report]);
  const log = await lab.sql<LoggedCall>(
    'SELECT id, coalesce(cost, 0)::text AS cost, upstream_cost::text AS upstream FROM generations',
  );
  const byId = new Map(log.map((logged) => [logged.id, logged]));
  const problems = [...result.problems];
  const wrong = new Map<string, number>();
  let [charged, unpaid] = [0, 0];
  for (const { generation, delivered, ends, reader, isOrphan } of outcomes) {
    if (delivered === 0 || isOrphan) continue;
    const logged = generation === null ? undefined : byId.get(generation);
    if (logged && parseUsd(logged.cost) > 0n) charged++;
    else if (logged && logged.upstream !== null && parseUsd(logged.upstream) > 0n) unpaid++;
    else {
      const problem = `${ends}, client ${reader}: delivered, and ${logged ? 'neither charged nor unpaid' : 'lost'}`;
      wrong.set(problem, (wrong.get(problem) ?? 0) + 1);
    }
  }
  problems.push(...[...wrong].map(([problem, count]) => `${count} x ${problem}`));
  const total = log.reduce((sum, { cost }) => sum + parseUsd(cost), 0n);
  if (total > parseUsd(String(LIMIT)))
    problems.push(`${Number(total) / 1e12} USD were spent of ${LIMIT} USD`);
  const [counted] = await lab.sql<{ total: string }>('SELECT max(total)::text AS total FROM key_spend');
  problems.push(...(await compareAnalytics(lab, total)));
  return {
    ...result,
    problems,
    remarks: [
      ...result.remarks,
      `${outcomes.length} calls: ${charged} deliveries charged, ${unpaid} counted as unpaid; ` +
        `spent ${counted?.total} USD of ${LIMIT} USD`,
    ],
  };
}

async function compareAnalytics(lab: Lab, logged: bigint): Promise<string[]> {
  const replica = await lab.startReplica();
  try {
    const { body } = await request(`${replica.baseUrl}/analytics/query`, {
      method: 'POST',
      dispatcher: lab.agent,
      headers: { authorization: `Bearer ${lab.keys.managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ metrics: ['total_usage', 'request_count'] }),
    });
    const { data } = (await body.json()) as { data: { data: { total_usage: number }[] } };
    const usage = data.data[0]?.total_usage ?? 0;
    const difference = Math.abs(usage - Number(logged) / 1e12);
    return difference < 1e-9 ? [] : [`analytics say ${usage} USD and the log ${Number(logged) / 1e12} USD`];
  } finally {
    await replica.stop();
  }
}

export const chatEndings: Scenario = {
  name: 'Chats: every ending at random, over two replicas',
  run: (context) =>
    inLab(
      context,
      { name: 'chat_endings', replicas: 1, replicaOptions: { environment: ENVIRONMENT } },
      async (lab) => {
        const proxy = await startDatabaseProxy(lab.databaseUrl);
        try {
          const startSecond = () =>
            lab.startReplica({ environment: { ...ENVIRONMENT, DATABASE_URL: proxy.url } }, SECOND);
          lab.replicas.push(await startSecond());
          const surroundings = { lab, killed: new Set<Replica>(), proxy, startSecond };
          const disturbances = Array.from({ length: ROUNDS }, () =>
            pick(lab, [nothing, kill, stop, cut, restart]),
          );
          return await run(lab, surroundings, disturbances);
        } finally {
          await proxy.close();
        }
      },
    ),
};

export const chatEndingsWithFailover: Scenario = {
  name: 'Chats: every ending at random, with a failover',
  run: (context) =>
    inLabWithStandby(
      context,
      { name: 'chat_endings_pair', replicas: 1, replicaOptions: { environment: ENVIRONMENT } },
      async (lab, pair) => {
        const startSecond = () => lab.startReplica({ environment: ENVIRONMENT }, SECOND);
        lab.replicas.push(await startSecond());
        const surroundings = { lab, killed: new Set<Replica>(), proxy: null, startSecond };
        return run(lab, surroundings, [nothing, kill, failover(pair), stop, nothing]);
      },
    ),
};

const failover =
  (pair: FailoverPair): Disturbance =>
  async ({ lab }) => {
    await lab.wait(lab.random() * 500);
    pair.crash();
    await lab.wait(FAULT_MS);
    await pair.promote();
  };
