// The built service in a process of its own, for tests of what it prints and of how it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { TEST_ENCRYPTION_KEY } from './app.js';

export interface ServiceProcess {
  readonly baseUrl: string;
  readonly pid: number;
  signal(name: NodeJS.Signals): void;
  /** The printed lines so far; empty where it prints to a file. */
  readonly lines: readonly string[];
  /** SIGKILL, and waits until it is gone. PostgreSQL still executes its last statements: untilNoneRuns() waits for them. */
  kill(): Promise<void>;
  /** SIGTERM, and waits until it is gone and all that it has printed was read. Resolves with its exit code. */
  stop(): Promise<number | null>;
}

const PROGRAM = fileURLToPath(new URL('service-program.mjs', import.meta.url));

export async function startServiceProcess(
  environment: Readonly<Record<string, string>>,
  standardOutput: 'pipe' | number = 'pipe',
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env['PATH'],
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
      PORT: '0',
      LOG_LEVEL: 'fatal',
      MODEL_DISCOVERY: 'off',
      // A second process takes as long to start again: for the tests that are about it.
      DELIVERY_PROCESS: 'shared',
      // No load balancer has to learn of the end, except where a test is about it.
      SHUTDOWN_ANNOUNCE_MS: '0',
      // A process that has only just started is slow, and no test asks how slow.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      ...environment,
    },
    stdio: ['ignore', standardOutput, 'inherit', 'pipe'],
  });
  const [, printed, , address] = child.stdio as readonly (Readable | null)[];
  const lines: string[] = [];
  const closed = once(child, 'close') as Promise<[number | null]>;
  const baseUrl = await new Promise<string>((resolve, reject) => {
    if (printed) createInterface(printed).on('line', (line) => lines.push(line));
    address?.once('data', (text) => resolve(String(text)));
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = await closed;
    return code;
  };
  return {
    baseUrl,
    pid: child.pid ?? 0,
    signal: (name) => void child.kill(name),
    lines,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
