// The report of the experiments, as Markdown for docs/reports. It is written from the figures in the JSON file beside it,
// and from those alone: an experiment that is repeated replaces its own figures.
import { machine } from '../report.js';
import type { Experiment, ExperimentResult } from './experiment.js';
import { EXPERIMENTS } from './experiments/index.js';

export interface MeasuredExperiment {
  /** Absent: as it was measured last. */
  readonly before?: ExperimentResult;
  readonly now: ExperimentResult;
}

/** By the name of the experiment. */
export type TenantFigures = Readonly<Record<string, MeasuredExperiment>>;

export interface KeptFigures {
  readonly date: string;
  readonly machine: string;
  readonly experiments: TenantFigures;
}

/** Merges the stored figures with the current measurement. */
export function mergeFigures(kept: KeptFigures | null, measured: TenantFigures): KeptFigures {
  const experiments = Object.fromEntries(
    EXPERIMENTS.flatMap(({ name }): [string, MeasuredExperiment][] => {
      const [old, fresh] = [kept?.experiments[name], measured[name]];
      if (!fresh) return old ? [[name, old]] : [];
      return [[name, { ...(old?.before ? { before: old.before } : {}), ...fresh }]];
    }),
  );
  return { date: new Date().toISOString().slice(0, 10), machine: machine(), experiments };
}

export function writeTenantReport({ date, machine: where, experiments }: KeptFigures): string {
  const items = [...new Set(EXPERIMENTS.map(({ item }) => item))].sort((one, other) => one - other);
  const measured = EXPERIMENTS.filter(({ name }) => experiments[name]);
  const broken = measured.filter(({ name }) => experiments[name]?.now.problems.length !== 0);
  return [
    '# One tenant against the others',
    '',
    `\`npm run test:tenants\`, ${date}, ${where}.`,
    '',
    'Each experiment attacks a built service from outside: one replica with a heap of 1 GB, a stub provider, a second',
    'account that attacks, and the load of the account that is to be protected. Every process of it shares the cores of',
    'one machine. "Before" is the build without the bounds, measured in turn with the one of today.',
    'The event loop is held for as long as the slowest answer to a health probe from another process takes. A process',
    'above 1.8 GB is killed by the experiment.',
    '',
    `${measured.length - broken.length} of ${measured.length} experiments end as they have to.`,
    '',
    ...items.flatMap((item) =>
      measured
        .filter((experiment) => experiment.item === item)
        .flatMap((experiment) => sectionOf(experiment, experiments[experiment.name])),
    ),
  ].join('\n');
}

function sectionOf({ name, item, title }: Experiment, measured: MeasuredExperiment | undefined): string[] {
  if (!measured) return [];
  const { before, now } = measured;
  const names = [...new Set([...Object.keys(now.figures), ...Object.keys(before?.figures ?? {})])];
  const cell = (result: ExperimentResult | undefined, figure: string): string =>
    (result?.figures[figure] ?? '').replaceAll('|', '\\|');
  return [
    `## ${item}. ${name}`,
    '',
    title,
    '',
    '| Figure | Before | Now |',
    '| --- | --- | --- |',
    ...names.map((figure) => `| ${figure} | ${cell(before, figure)} | ${cell(now, figure)} |`),
    `| result | ${outcomeOf(before)} | ${outcomeOf(now)} |`,
    '',
    ...now.problems.map((problem) => `- does not hold: ${problem}`),
    ...(now.problems.length > 0 ? [''] : []),
  ];
}

function outcomeOf(result: ExperimentResult | undefined): string {
  if (!result) return '';
  return result.problems.length === 0 ? 'holds' : 'does not hold';
}
