// The time of each operation as the database grows, and the cost of an input as calls grow.
// Two databases on one server, one empty and one filled, each with the built service; they take turns.
//
//   npm run lab -- growth --generations 10000000 --keys 100000 --destinations 10000 --rounds 5
import { parseArgs } from 'node:util';
import { sleep } from '../../scripts/support/processes.mjs';
import { openTestbed } from '../bench/testbed/testbed.mjs';
import {
  bringToRest,
  fill,
  listOwnKeyHashes,
  makeOwnWorkspaces,
  SLOTS,
  untilSummedUp,
} from '../../test/support/database/growth-fill.mjs';
import { measureQuestions } from './console-questions.mjs';
import { describeGrowth, operationRow, renderGrowth } from './report.mjs';
import { callBodies } from '../bench/load/known-vectors.mjs';
import { alternately, shorterRounds } from '../bench/testbed/measuring.mjs';
import { formatted, writePage } from '../support/report.ts';
import { createMigratedDatabase, startService } from '../bench/testbed/service.mjs';
import { medianOf, valuesOf } from '../support/statistics.ts';
import { cpuSeconds } from '../bench/testbed/usage.mjs';

const OPTIONS = {
  generations: { type: 'string', default: '10000000' },
  keys: { type: 'string', default: '100000' },
  destinations: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '10' },
  only: { type: 'string' },
  report: { type: 'string' },
};
/** A moment of another program's work would end the run. */
const ENVIRONMENT = { MAX_EVENT_LOOP_DELAY_MS: '0' };
/** Turns are so short that both sides see the same load of the machine. */
const SLICES_PER_ROUND = 4;

const MODEL = 'openai/text-embedding-3-large';
const INPUTS = [1, 8, 64, 512, 2048];
// Node compiles hot code in steps: below some thousand calls, the first side would pay for it.
const WARM_UP_SECONDS = 10;
const WARM_UP_CREATIONS = 600;
const WARM_UP_CONNECTIONS = 8;
const ROLLUP_TIMEOUT_MS = 3_600_000;

const CALL = 'POST /embeddings';
const CREATION = 'POST /observability/destinations';
// Calls a second: moderate, so that the figure is the call's time without a queue, and otherwise high, because the
// 99th percentile of a turn rests on its few slowest calls.
const OPERATIONS = [
  {
    name: CALL,
    loads: [
      { connections: 1, rate: 100 },
      { connections: 8, rate: 400 },
    ],
  },
  {
    name: 'GET /keys/{hash}',
    loads: [
      { connections: 1, rate: 240 },
      { connections: 8, rate: 480 },
    ],
  },
  {
    name: CREATION,
    loads: [
      { connections: 1, rate: 60 },
      { connections: 8, rate: 120 },
    ],
  },
];

const authorized = (key) => ({ headers: { authorization: `Bearer ${key}` } });

/** One of the two services, with the parameters of its calls. */
class Side {
  #freePlaces;
  #nowhere;
  #hashes;

  constructor(service, { sinkOrigin, path }, workspaceIds, hashes) {
    this.service = service;
    /** The address of its deliveries. */
    this.path = path;
    this.#nowhere = `${sinkOrigin}/nowhere/`;
    this.#hashes = hashes;
    this.#freePlaces = workspaceIds.flatMap((id) => Array.from({ length: SLOTS }, () => id));
  }

  jobOf(operation, calls) {
    const { baseUrl, managementKey } = this.service;
    switch (operation) {
      case CALL:
        return this.embeddingsJob(1);
      case 'GET /keys/{hash}': {
        const hash = this.#hashes.shift();
        this.#hashes.push(hash);
        return { url: `${baseUrl}/keys/${hash}`, method: 'GET', bodies: [''], ...authorized(managementKey) };
      }
      default:
        return {
          url: `${baseUrl}/observability/destinations`,
          status: 201,
          bodies: this.#freePlaces.splice(0, calls).map((workspaceId) =>
            JSON.stringify({
              type: 'webhook',
              name: 'Growth',
              // An address instead of a name: a name server has its own pace.
              config: { url: this.#nowhere },
              workspace_id: workspaceId,
            }),
          ),
          ...authorized(managementKey),
        };
    }
  }

  async measureQuestions() {
    const [hash] = this.#hashes;
    const { data } = await this.service.manage('GET', `/keys/${hash}`);
    return measureQuestions(this.service, { hash, workspace: data.workspace_id });
  }

  embeddingsJob(inputs) {
    return {
      url: `${this.service.baseUrl}/embeddings`,
      bodies: callBodies({ inputs, format: 'base64', dimensions: 1536 }, MODEL),
      checksVectors: true,
      ...authorized(this.service.key),
    };
  }
}

const callsOfSlice = ({ rate }, { sliceSeconds }) => Math.round(rate * sliceSeconds);

/** The number of workspaces for the destinations that one side creates in the whole run. */
function countWorkspaces(plan) {
  const { loads } = OPERATIONS.at(-1);
  const calls = loads.reduce((sum, load) => sum + plan.slices * callsOfSlice(load, plan), WARM_UP_CREATIONS);
  return Math.ceil(calls / SLOTS);
}

async function openSide(testbed, plan, name, isFilled) {
  const { server, signal, progress, upstreamOrigin } = testbed;
  const databaseUrl = await createMigratedDatabase(server, { name, signal });
  const open = () => startService({ databaseUrl, upstreamOrigin, environment: ENVIRONMENT, signal });
  // The first start creates the account.
  const first = await open();
  const path = `/${name}/`;
  await first.createDestination('webhook', { url: testbed.sinkOrigin + path });
  await first.stop();
  if (isFilled) await fill(databaseUrl, plan.sizes, progress);
  const workspaceIds = await makeOwnWorkspaces(databaseUrl, countWorkspaces(plan));
  const service = await open();
  testbed.onClose(service.stop);
  return new Side(
    service,
    { sinkOrigin: testbed.sinkOrigin, path },
    workspaceIds,
    await listOwnKeyHashes(databaseUrl, 50),
  );
}

/** The rest of the filling must not be measured with the calls. */
async function waitForRest({ progress, signal }, sides) {
  await progress.step('The logs are summed up', async () => {
    for (const { service } of sides)
      await untilSummedUp(service.databaseUrl, signal, { timeout: ROLLUP_TIMEOUT_MS, pause: sleep });
  });
  await progress.step('The databases are vacuumed and on the disk', async () => {
    for (const { service } of sides) await bringToRest(service.databaseUrl);
  });
}

/** Until both sides have reached full speed, and have delivered the warm-up. */
async function warmUp(testbed, sides, name) {
  for (const side of sides) {
    const job = { ...side.jobOf(name, WARM_UP_CREATIONS), connections: WARM_UP_CONNECTIONS };
    // Free slots are limited to the workspaces that were created for the run.
    const forSeconds = name === CREATION ? null : WARM_UP_SECONDS;
    const { calls } = await testbed.runLoad({ ...job, seconds: forSeconds });
    if (name === CALL) await testbed.untilDelivered(side.path, calls);
  }
}

/** Figures of every turn: a stall of the machine stays in its turn. */
async function measureOperation(testbed, plan, sides, { name, loads }) {
  const rows = loads.flatMap((load) => sides.map((side) => ({ side, load })));
  const measureRow = ({ side, load }) =>
    testbed.runLoad({
      ...side.jobOf(name, callsOfSlice(load, plan)),
      ...load,
      seconds: plan.sliceSeconds,
    });
  await warmUp(testbed, sides, name);
  const results = await alternately({ rounds: plan.slices, rows, measureRow });
  return loads.map((load) => {
    const [empty, filled] = sides.map((side) => {
      const all = results.get(rows.find((row) => row.side === side && row.load === load));
      return { p50: valuesOf(all, 'p50'), p99: valuesOf(all, 'p99') };
    });
    return { name, load, empty, filled };
  });
}

async function measureInputs(testbed, { rounds, seconds }, side) {
  const measure = async (inputs, forSeconds) => {
    const before = cpuSeconds(side.service.pid);
    const result = await testbed.runLoad({
      ...side.embeddingsJob(inputs),
      connections: 1,
      seconds: forSeconds,
    });
    const cpu = cpuSeconds(side.service.pid) - before;
    return {
      time: (result.p50 * 1000) / inputs,
      cpu: (cpu * 1e6) / (result.calls * inputs),
      calls: result.calls,
      p50: result.p50,
    };
  };
  for (const inputs of INPUTS) await measure(inputs, WARM_UP_SECONDS);
  // Not shorter: the first calls after those of another size take longer, and a turn has few large ones.
  const short = shorterRounds({ rounds, seconds: seconds / 2 });
  const results = await alternately({
    rounds: short.rounds,
    rows: INPUTS,
    measureRow: (inputs) => measure(inputs, short.seconds),
  });
  return INPUTS.map((inputs) => {
    const of = (part) => medianOf(results.get(inputs), part);
    return { inputs, time: of('time'), cpu: of('cpu'), calls: of('calls'), p50: of('p50') };
  });
}

async function measureAll(testbed, plan) {
  const sides = [
    await openSide(testbed, plan, 'empty', false),
    await openSide(testbed, plan, 'filled', true),
  ];
  await waitForRest(testbed, sides);
  const questions = await testbed.progress.step("Measuring the console's questions", () =>
    sides[1].measureQuestions(),
  );
  if (plan.only === 'console') return describeGrowth({ questions, sizes: plan.sizes });
  const operations = [];
  for (const operation of OPERATIONS) {
    const measured = await testbed.progress.step(`Measuring ${operation.name}`, () =>
      measureOperation(testbed, plan, sides, operation),
    );
    for (const row of measured) testbed.progress.line(operationRow(row).join('  '));
    operations.push(...measured);
  }
  const inputs = await testbed.progress.step('Measuring inputs', () =>
    measureInputs(testbed, plan, sides[1]),
  );
  return describeGrowth({ operations, inputs, questions, sizes: plan.sizes });
}

export async function run(args, { progress, signal }) {
  const { report, only, ...texts } = parseArgs({ args, options: OPTIONS }).values;
  const { rounds, seconds, ...sizes } = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Number(text)]),
  );
  const slices = rounds * SLICES_PER_ROUND;
  const plan = { sizes, only, rounds, seconds, slices, sliceSeconds: seconds / SLICES_PER_ROUND };
  const testbed = await openTestbed({ progress, signal, withPeer: false });
  try {
    const page = renderGrowth(await measureAll(testbed, plan), ['growth', ...args].join(' '));
    progress.line(await formatted(page));
    if (report !== undefined) await writePage(report, page);
    return 0;
  } finally {
    await testbed.close();
  }
}
