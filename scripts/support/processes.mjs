// Inspects other processes by number: whether one runs, and whether it is still the same one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

function askPs(pid, columns) {
  try {
    const columnOptions = columns.flatMap((column) => ['-o', `${column}=`]);
    const output = execFileSync('ps', [...columnOptions, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.trim();
  } catch {
    return '';
  }
}

function readProcessState(pid) {
  if (process.platform !== 'linux') {
    const [state, ...startedAt] = askPs(pid, ['stat', 'lstart']).split(/\s+/);
    return state ? { isZombie: state.startsWith('Z'), startedAt: startedAt.join(' ') } : undefined;
  }
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold blanks and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { isZombie: fields[0] === 'Z', parent: Number(fields[1]), startedAt: fields[19] };
  } catch {
    return undefined;
  }
}

/**
 * Distinguishes a process from a later one with the same number. Undefined when it does not run. A zombie counts as
 * gone, because a container without an init never collects it.
 */
export function identifyProcess(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const state = readProcessState(pid);
  return state && !state.isZombie ? { pid, startedAt: state.startedAt } : undefined;
}

export function isRunning(identity) {
  const current = identity && identifyProcess(identity.pid);
  return current !== undefined && current.startedAt === identity.startedAt;
}

/** The arguments of a process, or one string with all of them where /proc does not exist. */
export function readCommandLine(pid) {
  if (process.platform !== 'linux') return [askPs(pid, ['command'])];
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // For every caller a process that is gone is a success; any other error (EPERM) must reach it.
    if (error.code === 'ESRCH') return false;
    throw error;
  }
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener('abort', finish, { once: true });
    if (signal?.aborted) finish();
  });
}

/**
 * Under npm a script is the child of a shell. A signal for npm ends npm and that shell but never arrives here, and
 * the script would continue out of reach. Calls `onGone` once one of them is gone.
 */
export function watchNpm(onGone) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const watched = [identifyProcess(process.ppid)];
  const grandparent = readProcessState(process.ppid)?.parent;
  const isShell = /(^|\/)(ba|da|z|k)?sh$/.test(readCommandLine(process.ppid)[0] ?? '');
  if (isShell && grandparent > 1) watched.push(identifyProcess(grandparent));
  const timer = setInterval(() => {
    if (watched.every((identity) => identity === undefined || isRunning(identity))) return;
    clearInterval(timer);
    onGone();
  }, 250);
  timer.unref();
}
