// Memory and life of the two processes of a replica, from /proc: a process that dies, and one that grows too large, are
// figures and not dangers to the machine.
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { residentBytes } from '../replicas/watch.js';

const BETWEEN_LOOKS_MS = 100;
// The heap limit of 1 GB does not bound buffers. A process above this is killed: the machine has other work.
export const MAX_RESIDENT_BYTES = 1.8 * 1024 ** 3;

export interface ProcessFigures {
  /** Peak of resident bytes. */
  readonly serving: number;
  readonly delivering: number;
  /** Whether the process that serves has lived from the beginning to the end. */
  readonly isAlive: boolean;
  /** Delivery processes that were started in place of one that had died. */
  readonly restarts: number;
  /** Processes that were killed here because they grew too large. */
  readonly killed: number;
  /** Whether the process that serves was ended here because its calls were never answered. */
  readonly isStuck: boolean;
}

export interface ProcessWatch {
  look(): ProcessFigures;
  /** To be said before the process that serves is ended for that. */
  foundStuck(): void;
  stop(): void;
}

/** Whether a process is there, and not only its exit code. */
async function lives(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/^\d+ \(.*\) [ZX] /s.test(stat);
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** `pid` is the process that serves; its children deliver. */
export function watchProcesses(pid: number): ProcessWatch {
  let [serving, delivering, killed] = [0, 0, 0];
  let isAlive = true;
  let isStuck = false;
  const stopping = new AbortController();
  const deliverers = new Set<number>();
  const bound = (process_: number, bytes: number): void => {
    if (bytes <= MAX_RESIDENT_BYTES) return;
    killed++;
    process.kill(process_, 'SIGKILL');
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      isAlive &&= await lives(pid);
      const bytes = isAlive ? await residentBytes(pid) : 0;
      serving = Math.max(serving, bytes);
      if (isAlive) bound(pid, bytes);
      for (const child of await childrenOf(pid)) {
        deliverers.add(child);
        const held = await residentBytes(child);
        delivering = Math.max(delivering, held);
        bound(child, held);
      }
      await pause(BETWEEN_LOOKS_MS);
    }
  })();
  return {
    look: () => ({
      serving,
      delivering,
      isAlive,
      restarts: Math.max(0, deliverers.size - 1),
      killed,
      isStuck,
    }),
    foundStuck: () => {
      isStuck = true;
    },
    stop: () => stopping.abort(),
  };
}
