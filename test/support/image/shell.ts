// Commands of the Dockerfile, offline.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Resolves with the standard output; rejects with what was printed. */
export async function runShell(
  commands: string,
  directory: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { HOME, PATH } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-c', commands], {
    cwd: directory,
    // npm gets its packages from those that are installed (packages.ts).
    env: { HOME, PATH, npm_config_offline: 'true', ...variables },
    maxBuffer: 1 << 26,
  });
  return stdout;
}
