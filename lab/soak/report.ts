// The page of a soak.
import type { LedgerCounts } from '../replicas/ledger.js';
import type { OperationReport } from './operations.js';
import { describeRun, table } from '../support/report.js';
import { megabytes } from '../support/statistics.js';
import type { Growth } from './main.js';
import type { Sample } from '../replicas/watch.js';

export interface SoakFacts {
  readonly seed: number;
  readonly minutes: number;
  readonly counts: LedgerCounts;
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
  readonly faults: readonly string[];
  readonly operations: OperationReport;
  readonly samples: readonly Sample[];
  readonly growth: Growth;
}

// Rows of the table of resources.
const ROWS = 8;

/** How often each fault came, in the order of its first time. */
function countFaults(faults: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of faults) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} x ${name}`).join('; ');
}

export function writeSoakPage(facts: SoakFacts): string {
  const { seed, minutes, counts, problems, remarks, faults, operations, samples, growth } = facts;
  const every = Math.max(1, Math.floor(samples.length / ROWS));
  const resources = samples
    .filter((_sample, index) => index % every === 0)
    .map(({ at, resident, files, connections }) => [
      at,
      megabytes(resident),
      files,
      Number.isNaN(connections) ? 'away' : connections,
    ]);
  return [
    '# Soak',
    describeRun(`soak --minutes ${minutes} --seed ${seed}`),
    `Result: ${problems.length === 0 ? 'passed' : 'failed'}. Two replicas, one PostgreSQL, a fault every minute.`,
    table(
      ['Subject', 'Count'],
      [
        ['answers that clients saw', counts.seen],
        ['of them lost', counts.lost],
        ['calls refused or broken by faults', counts.unanswered],
        ['generations in the log', counts.logged],
        ['delivered, each counted once', counts.delivered],
        ['delivered again', counts.repeated],
        ['USD in the log and in the counters', counts.spent],
        ['operations answered', operations.answered],
        ['operations refused or broken by faults', operations.rejected],
      ],
    ),
    [...remarks, ...problems].map((text) => `- ${text.split('\n')[0]}`).join('\n'),
    'The replica that ran from start to end, medians of the end against the time after the warm-up: memory ' +
      `${megabytes(growth.resident)} more, open files ${growth.files} more.`,
    table(['Second', 'Memory', 'Open files', 'Connections of all to PostgreSQL'], resources),
    `${faults.length} faults: ${countFaults(faults)}.`,
  ].join('\n\n');
}
