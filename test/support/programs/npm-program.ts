// A program of a npm package that is too large to be installed with this repository: it is installed on demand into a folder that later
// runs use again.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CACHE = fileURLToPath(new URL('../../../.data/programs', import.meta.url));
const TIMEOUT_MS = 300_000;

export interface NpmProgram {
  /** The path; null: the registry does not have it, or cannot be reached. */
  readonly path: string | null;
  readonly reason: string;
}

export async function npmProgram(name: string, version: string, command: string): Promise<NpmProgram> {
  const folder = join(CACHE, `${name.replaceAll(/[@/]/g, '_')}-${version}`);
  const path = join(folder, 'node_modules', '.bin', command);
  if (existsSync(path)) return { path, reason: '' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const options = ['install', '--no-audit', '--no-fund', `${name}@${version}`];
  try {
    await promisify(execFile)('npm', options, { cwd: folder, timeout: TIMEOUT_MS });
  } catch (error) {
    return { path: null, reason: `${name} cannot be installed: ${String(error).slice(0, 200)}` };
  }
  return existsSync(path) ? { path, reason: '' } : { path: null, reason: `${name} has no ${command}` };
}
