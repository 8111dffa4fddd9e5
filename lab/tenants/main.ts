// Runs the experiments one after the other, against one build or against two in turn, and prints their figures.
import { createRandom } from '../../test/support/random.js';
import { REPOSITORY } from '../replicas/replica.js';
import type { FaultOptions, RunEnd, ScenarioContext } from '../replicas/scenario.js';
import type { Build, Experiment, ExperimentResult } from './experiment.js';
import { EXPERIMENTS } from './experiments/index.js';
import { writeTenantPage } from './report.js';
import type { MeasuredExperiment } from './report.js';

export interface TenantOptions extends FaultOptions {
  /** A checkout with a dist, which is attacked instead of this one. */
  readonly build?: string;
  /** One whose figures are the ones before: each experiment runs against it first, then against this one. */
  readonly against?: string;
}

export async function runTenants({
  context,
  seed,
  only,
  line,
  build = REPOSITORY,
  against,
}: TenantOptions): Promise<RunEnd> {
  const names = only.split(',');
  const wanted = EXPERIMENTS.filter(({ name }) => names.some((part) => name.includes(part)));
  if (wanted.length === 0)
    throw new Error(
      `no experiment has "${only}" in its name; there are: ${EXPERIMENTS.map(({ name }) => name).join('; ')}`,
    );
  const measured: MeasuredExperiment[] = [];
  const measure = async (experiment: Experiment, of: Build): Promise<ExperimentResult> => {
    line(`${experiment.name}, ${of.label}: ${experiment.title}`);
    const begunAt = performance.now();
    const result = await runExperiment(experiment, { ...context, random: createRandom(seed) }, of);
    line(`  ${Math.round((performance.now() - begunAt) / 1000)} s`);
    for (const [name, text] of Object.entries(result.figures)) line(`    ${name}: ${text}`);
    for (const problem of result.problems) line(`    does not hold: ${problem}`);
    return result;
  };
  for (const experiment of wanted) {
    const before =
      against === undefined ? undefined : await measure(experiment, { root: against, label: 'before' });
    const now = await measure(experiment, { root: build, label: 'now' });
    measured.push({ name: experiment.name, before, now });
  }
  const broken = measured.filter(({ now }) => now.problems.length > 0).length;
  return {
    closing: `${measured.length - broken} held, ${broken} broken`,
    page: writeTenantPage(measured),
    isGood: broken === 0,
  };
}

async function runExperiment(
  experiment: Experiment,
  context: ScenarioContext,
  build: Build,
): Promise<ExperimentResult> {
  try {
    return await experiment.run(context, build);
  } catch (error) {
    context.signal.throwIfAborted();
    const text = error instanceof Error ? error.message : String(error);
    return { figures: {}, problems: [`the experiment failed: ${text.split('\n').slice(0, 4).join(' / ')}`] };
  }
}
