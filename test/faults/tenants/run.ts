// Runs the experiments one after the other, against one build or against two in turn, and prints their figures.
import type { FaultOptions } from '../main.js';
import { createRandom } from '../main.js';
import { REPOSITORY } from '../replica.js';
import type { ScenarioContext } from '../scenario.js';
import type { Build, Experiment, ExperimentResult } from './experiment.js';
import { EXPERIMENTS } from './experiments/index.js';
import type { MeasuredExperiment, TenantFigures } from './tenant-report.js';

export interface TenantOptions extends FaultOptions {
  /** A checkout with a dist, which is attacked instead of this one. */
  readonly build?: string;
  /** One whose figures are the ones before: each experiment runs against it first, then against this one. */
  readonly against?: string;
}

export interface TenantRun {
  readonly held: number;
  readonly broken: number;
  readonly figures: TenantFigures;
}

export async function runTenants({
  context,
  seed,
  only,
  line,
  build = REPOSITORY,
  against,
}: TenantOptions): Promise<TenantRun> {
  const names = only.split(',');
  const wanted = EXPERIMENTS.filter(({ name, item }) =>
    names.some((part) => name.includes(part) || `${item}` === part),
  );
  if (wanted.length === 0)
    throw new Error(
      `no experiment has "${only}" in its name; there are: ${EXPERIMENTS.map(({ name }) => name).join('; ')}`,
    );
  const figures: Record<string, MeasuredExperiment> = {};
  let [held, broken] = [0, 0];
  const measure = async (experiment: Experiment, of: Build): Promise<ExperimentResult> => {
    line(`${experiment.item} ${experiment.name}, ${of.label} …`);
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
    if (now.problems.length === 0) held++;
    else broken++;
    figures[experiment.name] = { ...(before === undefined ? {} : { before }), now };
  }
  return { held, broken, figures };
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
