// The results of scenarios as text: all tables for the terminal, and a page with a row for each figure.
import { describeRun, table } from '../support/report.ts';
import { GATEWAY_NAMES } from './testbed/measuring.mjs';

/** One row for each figure of each scenario, one column for each gateway. */
function renderSummary(all) {
  const kinds = Object.keys(GATEWAY_NAMES);
  const rows = all.flatMap(({ summary }) =>
    summary.map(({ what, figures }) => [what, ...kinds.map((kind) => figures[kind] ?? '')]),
  );
  return table(['figure', ...Object.values(GATEWAY_NAMES)], rows);
}

/** How many targets are met, and those that are missed. */
export function renderTargets(all) {
  const targets = all.flatMap((results) => results.targets);
  const missed = targets.filter(({ isMet }) => !isMet);
  const met = `${targets.length - missed.length} of ${targets.length} targets are met.`;
  if (missed.length === 0) return met;
  const rows = missed.map(({ what, wanted, figure }) => [what, wanted, figure]);
  return `${met} Missed:\n\n${table(['what', 'wanted', 'measured'], rows)}`;
}

export const renderTables = ({ tables }) =>
  tables.map(({ title, columns, rows }) => `**${title}**\n\n${table(columns, rows)}`).join('\n\n');

/** Everything that a scenario has measured, for the terminal. */
export const renderDetails = (results) =>
  [`## ${results.title}`, ...results.remarks, renderTables(results)].join('\n\n');

/** The page of a run. `command`: the program with its arguments. */
export const renderPage = (all, { command, isQuick }) =>
  [
    '# Bench',
    describeRun(command),
    ...(isQuick ? ['**A quick run: few and short rounds of processes that are not quite warm.**'] : []),
    '[How it is measured](../README.md#bench). _Added_: above the same calls without a gateway. Empty: not compared.',
    renderSummary(all),
    renderTargets(all),
  ].join('\n\n');
