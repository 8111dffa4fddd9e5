// The results of each scenario as a file, and the page that combines them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../../scripts/support/database-connection.mjs';
import { inRepository } from '../../scripts/support/repository.mjs';
import { renderReport, renderSummary } from './report.mjs';

const directory = inRepository('bench', 'results');
const page = inRepository('bench', 'RESULTS.md');

/** Committed files have the form that the linter requires. */
async function formatted(file, text) {
  const { format, resolveConfig } = await import('prettier');
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

const writeFormatted = async (file, text) => writeFileSync(file, await formatted(file, text));

/** The summary of these results, for a terminal. */
export const describeResults = (all) => formatted(page, renderSummary(all));

function distribution() {
  try {
    return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

export async function readPostgresVersion({ url }) {
  const { rows } = await withClient(url, (client) => client.query('SHOW server_version'));
  return rows[0].server_version;
}

/** The origin of the figures, for readers. */
export function describeMachine(postgresVersion) {
  const processors = cpus();
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    system: `${distribution() ?? process.platform}, kernel ${release()}`,
    node: process.versions.node,
    postgres: postgresVersion,
  };
}

/** Identifies the measured code: earlier results of a scenario do not change it. */
function commit() {
  const git = (...parameters) =>
    execFileSync('git', parameters, {
      cwd: inRepository(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '.', ':!bench/results', ':!bench/RESULTS.md');
    return git('describe', '--always') + (changed === '' ? '' : '-dirty');
  } catch {
    // An unpacked archive has no history.
    return undefined;
  }
}

/** Keeps the results of one scenario and renders the page again. `command` reproduces them. */
export async function keepResults(
  { name, title, command = `npm run bench -- --only ${name}` },
  { machine, settings, summary, targets, tables, remarks },
) {
  mkdirSync(directory, { recursive: true });
  const results = {
    name,
    title,
    command,
    measuredAt: new Date().toISOString(),
    commit: commit(),
    machine,
    settings,
    summary,
    targets,
    tables,
    remarks,
  };
  await writeFormatted(join(directory, `${name}.json`), JSON.stringify(results));
  await writeReport();
  return results;
}

/** The page of all results in the folder, from any command. */
async function writeReport() {
  const all = readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')));
  await writeFormatted(page, renderReport(all));
}
