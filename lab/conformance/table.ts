// Writes the results as text: tables of providers by checks, the reasons of failures, a closing line with counts.
import type { Column, Labelled, Outcome, Outcomes } from './run-checks.js';

const SIGNS: Readonly<Record<Outcome['kind'], string>> = {
  right: '✓',
  wrong: '✗',
  'not offered': '–',
  nothing: ' ',
};
const GAP = '  ';

/** An operation: its rows, and its columns in tables with a title. */
export interface Suite {
  readonly title: string;
  readonly rows: readonly Labelled[];
  readonly sections: readonly (readonly [string, readonly Column[]])[];
}

export interface CheckedGateway {
  readonly name: string;
  readonly remarks: readonly string[];
}

/** An operation's results by gateway. */
export interface Comparison {
  readonly suite: Suite;
  readonly results: ReadonlyMap<CheckedGateway, Outcomes>;
}

export const signOf = (outcome: Outcome | undefined): string => SIGNS[outcome?.kind ?? 'nothing'];

export function writeLegend({ sections }: Suite, gateways: readonly CheckedGateway[]): string {
  const checks = sections.flatMap(([, section]) => section);
  const headWidth = Math.max(...checks.map(({ head }) => head.length));
  const lines = checks.map(({ head, promise }) => `  ${head.padEnd(headWidth)}${GAP}${promise}`);
  const remarks = gateways.flatMap(({ name, remarks: all }) => all.map((remark) => `  ${name}: ${remark}`));
  return [
    '✓ right   ✗ wrong   – not offered by this gateway   blank: nothing to check for this provider',
    ...lines,
    ...remarks,
  ].join('\n');
}

export function writeTables({ rows: all, sections }: Suite, name: string, outcomes: Outcomes): string {
  const labelWidth = Math.max(...all.map(({ label }) => label.length));
  return sections
    .map(([title, checks]) => {
      const heading = [''.padEnd(labelWidth), ...checks.map(({ head }) => head)];
      const rows = all.map((row) => {
        const signs = checks.map((check) => signOf(outcomes.get(check)?.get(row)).padEnd(check.head.length));
        return [row.label.padEnd(labelWidth)].concat(signs);
      });
      const lines = [heading].concat(rows).map((cells) => cells.join(GAP).trimEnd());
      return [`${name}: ${title}`].concat(lines).join('\n');
    })
    .join('\n\n');
}

/** One line for each reason of a check, with its providers. */
export function writeReasons(outcomes: Outcomes): string {
  const lines = [...outcomes].flatMap(([{ head }, byRow]) => {
    const labels = new Map<string, string[]>();
    for (const [{ label }, outcome] of byRow) {
      if (outcome.kind !== 'wrong') continue;
      labels.set(outcome.reason, [...(labels.get(outcome.reason) ?? []), label]);
    }
    return [...labels].map(([reason, providers]) => `  ${head}: ${providers.join(', ')}: ${reason}`);
  });
  return lines.join('\n');
}

export function count(outcomes: Outcomes, kind: Outcome['kind']): number {
  const all = [...outcomes.values()].flatMap((byRow) => Array.from(byRow.values()));
  return all.filter((outcome) => outcome.kind === kind).length;
}

export function writeSummary(name: string, outcomes: Outcomes): string {
  const right = count(outcomes, 'right');
  const notOffered = count(outcomes, 'not offered');
  return `${name}: ${right} of ${right + count(outcomes, 'wrong')} right${notOffered > 0 ? `, ${notOffered} not offered` : ''}`;
}
