// The bench: this service beside a bare pipe, a bare Nest gateway and another gateway.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { inRepository } from '../../scripts/support/repository.mjs';
import { ScriptError } from '../../scripts/support/run-command.mjs';
import { builds } from './scenarios/builds.mjs';
import { SCENARIOS } from './scenarios/index.mjs';
import { openTestbed } from './testbed/testbed.mjs';
import { describeProfiles, profilerArguments } from './testbed/profile.mjs';
import { formatted, writePage } from '../support/report.ts';
import { renderDetails, renderPage } from './report.mjs';

const PROFILED = SCENARIOS.filter((scenario) => scenario.profile !== undefined).map(({ name }) => name);

const USAGE = `Measures this service beside others on this machine. Nothing fails when a target is missed.

Usage: npm run lab -- bench [options]

  --quick             fewer kinds of calls, fewer and shorter rounds: about 8 minutes
  --only NAMES        these scenarios, separated by commas: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --calls NAMES       of the throughput scenario these calls, for example 1-base64-1536,100-float-384
  --rounds N          how often each measurement is repeated
  --seconds N         how long each measurement lasts
  --against DIR       only this build beside that of another checkout: with --rounds 12 the pair of a change
  --no-peer           without the other gateway
  --report FILE       writes the page of the figures there
  --soak MINUTES      only the memory under full load: at most five of warm-up, then two windows of so many
  --profile NAME      no figures: this scenario's load on this service under Node's profiler; ${PROFILED.join(', ')}
`;

const FULL = { rounds: 3, seconds: 2.5 };
const QUICK = { rounds: 2, seconds: 1 };

function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      calls: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      against: { type: 'string' },
      'no-peer': { type: 'boolean', default: false },
      report: { type: 'string' },
      soak: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const preset = values.quick ? QUICK : FULL;
  return {
    ...values,
    scenarios: chooseScenarios(values),
    settings: {
      isQuick: values.quick,
      rounds: readNumber('rounds', values.rounds) ?? preset.rounds,
      seconds: readNumber('seconds', values.seconds) ?? preset.seconds,
      minutes: readNumber('soak', values.soak),
      against: values.against === undefined ? undefined : resolve(values.against),
      calls: values.calls?.split(','),
    },
  };
}

function readNumber(name, text) {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0)) throw new ScriptError(`--${name} must be a number above 0`);
  return number;
}

function chooseScenarios({ only, profile, soak, against }) {
  if (against !== undefined) return [builds];
  if (soak !== undefined) return SCENARIOS.filter(({ name }) => name === 'memory');
  const names = (profile ?? only)?.split(',');
  const unknown = names?.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name)) ?? [];
  if (unknown.length > 0) throw new ScriptError(`There is no scenario ${unknown.join(', ')}\n\n${USAGE}`);
  if (profile !== undefined && !PROFILED.includes(profile))
    throw new ScriptError(`Only these have a load to profile: ${PROFILED.join(', ')}`);
  return SCENARIOS.filter(({ name, isLong }) => names?.includes(name) ?? !isLong);
}

/** False when a scenario could not be measured; the others are measured all the same. */
async function measureAll(testbed, { scenarios, settings: given, report }, command) {
  const measured = [];
  for (const scenario of scenarios) {
    try {
      const results = await scenario.measure(testbed, scenario.settings?.(given) ?? given);
      measured.push({ ...scenario, ...results });
      testbed.progress.line(await formatted(renderDetails(measured.at(-1))));
    } catch (error) {
      testbed.signal.throwIfAborted();
      testbed.progress.line(`${scenario.name} was not measured: ${error.stack}`);
    }
  }
  const page = renderPage(measured, { command, isQuick: given.isQuick });
  testbed.progress.line(await formatted(page));
  if (report !== undefined) await writePage(report, page);
  return measured.length === scenarios.length;
}

async function profileOne({ scenarios: [scenario], settings }, { progress, signal }) {
  const directory = inRepository('node_modules', '.cache', 'signalbox-profiles', `${Date.now()}`);
  mkdirSync(directory, { recursive: true });
  const testbed = await openTestbed({
    progress,
    signal,
    withPeer: false,
    isQuick: settings.isQuick,
    nodeArguments: profilerArguments(directory),
  });
  let result;
  try {
    result = await progress.step(`Profiling ${scenario.name}`, () => scenario.profile(testbed, settings));
  } finally {
    await testbed.close();
  }
  const { begunAt, ...figures } = result;
  progress.line(JSON.stringify(figures));
  progress.line(
    `${describeProfiles(directory, begunAt)}\nThe profiles are in ${directory}; Chrome's DevTools show them.`,
  );
}

export async function run(args, { progress, signal }) {
  const options = readOptions(args);
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (options.profile !== undefined) {
    await profileOne(options, { progress, signal });
    return 0;
  }
  const testbed = await openTestbed({
    progress,
    signal,
    withPeer: !options['no-peer'],
    isQuick: options.settings.isQuick,
  });
  try {
    return (await measureAll(testbed, options, ['bench', ...args].join(' '))) ? 0 : 1;
  } finally {
    await testbed.close();
  }
}
