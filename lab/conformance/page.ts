// The results as a page: what each gateway gets right, and where it fails.
import { describeRun, table } from '../support/report.js';
import type { Column, Outcomes } from './run-checks.js';
import { count, signOf } from './table.js';
import type { Comparison } from './table.js';

const MOST_REASONS = 3;

/** Rows by checks; a cell has the sign of each gateway, in their order. */
function tableOf(
  { suite, results }: Comparison,
  [title, checks]: readonly [string, readonly Column[]],
): string {
  const gateways = [...results];
  const rows = suite.rows.map((row) => [
    row.label,
    ...checks.map((check) =>
      gateways
        .map(([, outcomes]) => signOf(outcomes.get(check)?.get(row)))
        .join('')
        .trim(),
    ),
  ]);
  return `**${title}**\n\n${table(['', ...checks.map(({ head }) => head)], rows)}`;
}

function summaryOf({ results }: Comparison): string {
  const rows = [...results].map(([{ name }, outcomes]) => [
    name,
    count(outcomes, 'right'),
    count(outcomes, 'wrong'),
    count(outcomes, 'not offered'),
  ]);
  return table(['gateway', 'right', 'wrong', 'not offered'], rows);
}

/** Each check that a gateway fails, with the most frequent reasons. */
function failuresOf(name: string, outcomes: Outcomes): string {
  const rows = [...outcomes].flatMap(([{ head, promise }, byRow]) => {
    const reasons = new Map<string, number>();
    for (const outcome of byRow.values())
      if (outcome.kind === 'wrong') reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + 1);
    if (reasons.size === 0) return [];
    const shown = [...reasons].sort(([, one], [, other]) => other - one).slice(0, MOST_REASONS);
    return [[head, promise, shown.map(([reason, times]) => `${times} × \`${plain(reason)}\``).join('<br>')]];
  });
  return rows.length === 0 ? '' : `**${name} fails**\n\n${table(['check', 'promise', 'reasons'], rows)}`;
}

const MOST_SHOWN = 140;
const plain = (text: string): string =>
  text
    .replace(/https?:\/\/127\.0\.0\.1:\d+/g, '')
    .replace(/[`|\s]+/g, ' ')
    .slice(0, MOST_SHOWN);

export function renderConformance(comparisons: readonly Comparison[], command: string): string {
  const parts = comparisons.flatMap((comparison) => {
    const { suite, results } = comparison;
    const names = [...results.keys()].map(({ name }) => name);
    return [
      `## ${suite.title}`,
      summaryOf(comparison),
      `Of each cell the signs are those of ${names.join(', then ')}: ✓ right, ✗ wrong, – not offered, blank: nothing to check.`,
      ...suite.sections.map((section) => tableOf(comparison, section)),
      ...[...results].map(([{ name }, outcomes]) => failuresOf(name, outcomes)),
      ...[...results.keys()].flatMap(({ name, remarks }) => remarks.map((remark) => `${name}: ${remark}.`)),
    ];
  });
  return ['# Conformance', describeRun(command), ...parts].filter((part) => part !== '').join('\n\n');
}
