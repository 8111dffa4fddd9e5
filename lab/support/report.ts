// The pages of lab/reports: one each, in Markdown, with a first line that says how to repeat the run.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const README = fileURLToPath(new URL('../README.md', import.meta.url));

type Cell = string | number;

export const table = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Identifies the measured code: reports do not change it. Undefined in an unpacked archive, which has no history. */
function commit(): string | undefined {
  const git = (...parameters: string[]): string =>
    execFileSync('git', parameters, {
      cwd: new URL('../../', import.meta.url),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '.', ':!lab/reports');
    return git('describe', '--always') + (changed === '' ? '' : '-dirty');
  } catch {
    return undefined;
  }
}

/** `command`: the program and the arguments that repeat the run. */
export function describeRun(command: string): string {
  const [processor] = cpus();
  return [
    `\`npm run lab -- ${command}\``,
    new Date().toISOString().slice(0, 10),
    `commit ${commit() ?? 'unknown'}`,
    `Node ${process.versions.node}`,
    `${cpus().length} cores (${processor?.model ?? 'unknown'})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB.`,
  ].join(', ');
}

/** A text in the form that the linter requires. */
export async function formatted(text: string, file: string = README): Promise<string> {
  const { format, resolveConfig } = await import('prettier');
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

export async function writePage(given: string, text: string): Promise<void> {
  const file = resolve(given);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await formatted(text, file));
}
