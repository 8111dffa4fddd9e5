// V8 options that trade memory for processor time, set by each process itself: the service starts with plain `node`.
import { execFileSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';

/** docs/performance.md, "V8 options", has their figures. */
const MEMORY_OPTIONS = ['--heap-growing-percent=200', '--no-allocation-site-pretenuring'];

/** Skips options that the running Node does not know: V8 removes options between versions. */
export function applyMemoryOptions(options: readonly string[] = MEMORY_OPTIONS): readonly string[] {
  const listing = listOptions();
  const known = options.filter((option) => listing.has(nameOf(option)) && !isGiven(option));
  for (const option of known) setFlagsFromString(option);
  return known;
}

/** The names of V8's options. Empty: they cannot be listed, and none is set. */
function listOptions(): ReadonlySet<string> {
  try {
    const text = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', timeout: 5_000 });
    return new Set([...text.matchAll(/^\s+--([\w-]+)/gm)].map(([, name = '']) => name));
  } catch {
    return new Set();
  }
}

/** Options of the command line take precedence. */
function isGiven(option: string): boolean {
  return process.execArgv.some((argument) => nameOf(argument) === nameOf(option));
}

function nameOf(option: string): string {
  return option.replace(/^--(no-)?/, '').replace(/=.*$/, '');
}
