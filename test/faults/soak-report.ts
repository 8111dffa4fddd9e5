// The report of a soak, as Markdown for docs/reports.
import type { LedgerCounts } from './ledger.js';
import type { OperationReport } from './operations.js';
import { machine } from './report.js';
import type { Growth } from './soak.js';
import type { Sample } from './watch.js';

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

// Rows of the table of what was held.
const ROWS = 16;

export function writeSoakReport(facts: SoakFacts): string {
  const { seed, minutes, counts, problems, remarks, faults, operations, samples, growth } = facts;
  const every = Math.max(1, Math.floor(samples.length / ROWS));
  const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
  return [
    '# Soak',
    '',
    `\`npm run soak -- --minutes ${minutes} --seed ${seed}\`, ${new Date().toISOString().slice(0, 10)}, ${machine()}.`,
    '',
    `Result: ${problems.length === 0 ? 'passed' : 'failed'}. Two replicas, one PostgreSQL, a fault every minute.`,
    '',
    '| Subject | Count |',
    '| --- | --- |',
    `| answers that clients saw | ${counts.seen} |`,
    `| of them lost | ${counts.lost} |`,
    `| calls refused or broken by faults | ${counts.unanswered} |`,
    `| generations in the log | ${counts.logged} |`,
    `| delivered, each counted once | ${counts.delivered} |`,
    `| delivered again | ${counts.repeated} |`,
    `| USD in the log and in the counters | ${counts.spent} |`,
    `| operations answered | ${operations.answered} |`,
    `| operations refused or broken by faults | ${operations.rejected} |`,
    `| faults | ${faults.length} |`,
    '',
    ...[...remarks, ...problems].map((text) => `- ${text.split('\n')[0]}`),
    '',
    '## Resources of the replica that ran from start to end',
    '',
    `Medians, the end against the time after the warm-up: memory ${megabytes(growth.resident)} MB more, open files ` +
      `${growth.files} more.`,
    '',
    '| Second | Memory (MB) | Open files | Connections of all to PostgreSQL |',
    '| --- | --- | --- | --- |',
    ...samples
      .filter((_sample, index) => index % every === 0)
      .map(
        ({ at, resident, files, connections }) =>
          `| ${at} | ${megabytes(resident)} | ${files} | ${Number.isNaN(connections) ? 'away' : connections} |`,
      ),
    '',
    '## Faults, in their order',
    '',
    ...faults.map((name, index) => `${index + 1}. ${name}`),
    '',
  ].join('\n');
}
