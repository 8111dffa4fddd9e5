// The page of the experiments: a row each, with one figure.
import { describeRun, table } from '../support/report.js';
import type { ExperimentResult } from './experiment.js';

export interface MeasuredExperiment {
  readonly name: string;
  /** Absent: only one build was attacked. */
  readonly before: ExperimentResult | undefined;
  readonly now: ExperimentResult;
}

const OTHERS_P99 = 'others: p99 before, beside';

/** The delay of the others; without it a figure by which the builds differ, of the others if there is one. */
function headlineOf({ before, now }: MeasuredExperiment): string {
  const names = Object.keys(now.figures);
  if (names.includes(OTHERS_P99)) return OTHERS_P99;
  const differing = names.filter((name) => before && before.figures[name] !== now.figures[name]);
  return differing.find((name) => name.startsWith('others')) ?? differing[0] ?? names[0] ?? '';
}

export function writeTenantPage(measured: readonly MeasuredExperiment[]): string {
  const rows = measured.map((experiment) => {
    const { name, before, now } = experiment;
    const figure = headlineOf(experiment);
    const [problem = 'holds'] = now.problems;
    return [name, problem, figure, before?.figures[figure] ?? '', now.figures[figure] ?? ''];
  });
  const broken = measured.filter(({ now }) => now.problems.length > 0).length;
  return [
    '# One tenant against the others',
    describeRun('tenants'),
    'Each experiment attacks one replica with a heap of 1 GB. All processes share the cores of one machine. "Before" is a ' +
      'build without the bounds, attacked in turn.',
    `${measured.length - broken} of ${measured.length} experiments hold.`,
    table(['Experiment', 'Result', 'Figure', 'Before', 'Now'], rows),
  ].join('\n\n');
}
