// The report of a run, as Markdown for docs/reports.
import { arch, cpus, platform } from 'node:os';
import type { ScenarioOutcome } from './main.js';

export function machine(): string {
  return `Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores`;
}

export function writeFaultReport(outcomes: readonly ScenarioOutcome[], seed: number): string {
  const rows = outcomes.map(({ name, outcome, seconds, counts }) =>
    [
      name,
      outcome,
      `${seconds} s`,
      ...(counts
        ? [
            counts.seen,
            counts.unanswered,
            counts.logged,
            counts.delivered,
            counts.repeated,
            counts.lost,
            counts.spent,
          ]
        : Array.from({ length: 7 }, () => '')),
    ].join(' | '),
  );
  const lost = outcomes.reduce((sum, { counts }) => sum + (counts?.lost ?? 0), 0);
  const seen = outcomes.reduce((sum, { counts }) => sum + (counts?.seen ?? 0), 0);
  return [
    '# Faults survived',
    '',
    `\`npm run test:faults -- --seed ${seed}\`, ${new Date().toISOString().slice(0, 10)}, ${machine()}.`,
    '',
    `Answers that clients saw: ${seen}. Lost of them: ${lost}.`,
    '',
    'After each scenario the answers that clients saw, the log, the spend counters and what the destination has are',
    'compared, call by call and cent by cent; a difference fails it.',
    '',
    '| Scenario | Result | Took | Answers seen | Unanswered | Logged | Delivered | Delivered again | Lost | USD |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
    ...outcomes.flatMap(({ name, remarks, problems }) =>
      remarks.length + problems.length === 0
        ? []
        : ['', `## ${name}`, '', ...[...remarks, ...problems].map((text) => `- ${text.split('\n')[0]}`)],
    ),
    '',
  ].join('\n');
}
