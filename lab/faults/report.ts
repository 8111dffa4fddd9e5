// The page of a run of faults.
import { describeRun, table } from '../support/report.js';
import type { ScenarioOutcome } from './main.js';

const COLUMNS = ['Scenario', 'Result', 'Answers seen', 'Unanswered', 'Delivered again', 'Lost'];

export function writeFaultPage(outcomes: readonly ScenarioOutcome[], seed: number): string {
  const rows = outcomes.map(({ name, outcome, counts }) => [
    name,
    outcome,
    ...(counts ? [counts.seen, counts.unanswered, counts.repeated, counts.lost] : ['', '', '', '']),
  ]);
  const total = (part: 'seen' | 'lost'): number =>
    outcomes.reduce((sum, { counts }) => sum + (counts?.[part] ?? 0), 0);
  const problems = outcomes.flatMap(({ name, problems: all }) =>
    all.map((text) => `- ${name}: ${text.split('\n')[0]}`),
  );
  return [
    '# Faults survived',
    describeRun(`faults --seed ${seed}`),
    `Answers that clients saw: ${total('seen')}. Lost of them: ${total('lost')}.`,
    'After each scenario the answers that clients saw, the log, the spend counters and the deliveries are compared, call ' +
      'by call and cent by cent. A difference fails it.',
    table(COLUMNS, rows),
    ...(problems.length === 0 ? [] : ['## Failed or skipped', problems.join('\n')]),
  ].join('\n\n');
}
