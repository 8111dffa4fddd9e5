// The time of each operation as the database grows, and the cost of an input as calls grow.
// Two databases on one server, one empty and one filled, each with the built service; they take turns.
//
//   npm run lab -- growth --generations 10000000 --keys 100000 --destinations 10000 --rounds 5
//   npm run lab -- growth --only console --directory DIR     keeps the filled database in DIR for the next run
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openTestbed } from '../bench/testbed/testbed.mjs';
import { SLOTS } from '../../test/support/database/growth-fill.mjs';
import { describeGrowth, operationRow, renderGrowth } from './report.mjs';
import { alternately, shorterRounds } from '../bench/testbed/measuring.mjs';
import { formatted, writePage } from '../support/report.ts';
import { medianOf, valuesOf } from '../support/statistics.ts';
import { cpuSeconds } from '../bench/testbed/usage.mjs';
import { CALL, CREATION, openSide, prepareDirectory, waitForRest } from './sides.mjs';

const OPTIONS = {
  generations: { type: 'string', default: '10000000' },
  keys: { type: 'string', default: '100000' },
  destinations: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '10' },
  only: { type: 'string' },
  directory: { type: 'string' },
  report: { type: 'string' },
};
/** Turns are so short that both sides see the same load of the machine. */
const SLICES_PER_ROUND = 4;

const INPUTS = [1, 8, 64, 512, 2048];
// Node compiles hot code in steps: below some thousand calls, the first side would pay for it.
const WARM_UP_SECONDS = 10;
const WARM_UP_CREATIONS = 600;
const WARM_UP_CONNECTIONS = 8;

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

const callsOfSlice = ({ rate }, { sliceSeconds }) => Math.round(rate * sliceSeconds);

/** The number of workspaces for the destinations that one side creates in the whole run. */
function countWorkspaces(plan) {
  const { loads } = OPERATIONS.at(-1);
  const calls = loads.reduce((sum, load) => sum + plan.slices * callsOfSlice(load, plan), WARM_UP_CREATIONS);
  return Math.ceil(calls / SLOTS);
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
  const isOfConsole = plan.only === 'console';
  const workspaces = isOfConsole ? 0 : countWorkspaces(plan);
  const filled = await openSide(testbed, plan, { name: 'filled', isFilled: true, workspaces });
  const sides = isOfConsole
    ? [filled]
    : [await openSide(testbed, plan, { name: 'empty', isFilled: false, workspaces }), filled];
  await waitForRest(testbed, plan, sides);
  const questions = await testbed.progress.step("Measuring the console's questions", () =>
    filled.measureQuestions(testbed),
  );
  if (isOfConsole) return describeGrowth({ questions, sizes: plan.sizes });
  const operations = [];
  for (const operation of OPERATIONS) {
    const measured = await testbed.progress.step(`Measuring ${operation.name}`, () =>
      measureOperation(testbed, plan, sides, operation),
    );
    for (const row of measured) testbed.progress.line(operationRow(row).join('  '));
    operations.push(...measured);
  }
  const inputs = await testbed.progress.step('Measuring inputs', () => measureInputs(testbed, plan, filled));
  return describeGrowth({ operations, inputs, questions, sizes: plan.sizes });
}

export async function run(args, { progress, signal }) {
  const { report, only, directory, ...texts } = parseArgs({ args, options: OPTIONS }).values;
  const { rounds, seconds, ...sizes } = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Number(text)]),
  );
  const slices = rounds * SLICES_PER_ROUND;
  const keptDirectory = directory && resolve(directory);
  const plan = {
    sizes,
    only,
    directory: keptDirectory,
    rounds,
    seconds,
    slices,
    sliceSeconds: seconds / SLICES_PER_ROUND,
  };
  if (keptDirectory !== undefined) prepareDirectory(plan);
  const testbed = await openTestbed({ progress, signal, withPeer: false, keptDirectory });
  try {
    const page = renderGrowth(await measureAll(testbed, plan), ['growth', ...args].join(' '));
    progress.line(await formatted(page));
    if (report !== undefined) await writePage(report, page);
    return 0;
  } finally {
    await testbed.close();
  }
}
