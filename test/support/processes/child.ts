// A service or another gateway in a child process, which ends when this process does, however that happens.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built service. */
export const SERVICE_PROGRAM = fileURLToPath(new URL('service-process.mjs', import.meta.url));

const START_TIMEOUT_MS = 120_000;
const SIGTERM_TIMEOUT_MS = 5_000;
const KEPT_OUTPUT_CHARACTERS = 4_000;

export interface ChildOptions {
  readonly arguments?: readonly string[];
  /** Loaded before the program itself. */
  readonly preload?: string;
  /** Options for Node itself, such as those of its profiler. */
  readonly nodeArguments?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Receives the program's output as it is printed. */
  readonly onOutput?: (text: string) => void;
  /** Milliseconds for the start. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
}

export interface Child<Message> {
  /** The message by which the program reported that it is ready. */
  readonly message: Message;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

export async function startChild<Message>(program: string, options: ChildOptions): Promise<Child<Message>> {
  const { timeout = START_TIMEOUT_MS } = options;
  options.signal.throwIfAborted();
  const child = fork(program, [...(options.arguments ?? [])], {
    execArgv: [
      ...(options.nodeArguments ?? []),
      ...(options.preload === undefined ? [] : ['--require', options.preload]),
    ],
    env: { PATH: process.env['PATH'], ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT_CHARACTERS);
      options.onOutput?.(text);
    });
  }
  const waiting = new AbortController();
  const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(timeout), waiting.signal]);
  try {
    const [message] = (await Promise.race([
      once(child, 'message', { signal: deadline }),
      once(child, 'exit', { signal: deadline }).then(([code, killedBy]) => {
        throw new Error(`${program} ended with ${String(code ?? killedBy)}\n${output}`);
      }),
    ])) as [Message];
    return { message, process: child, stop: () => stopChild(child) };
  } catch (error) {
    await stopChild(child);
    options.signal.throwIfAborted();
    if (deadline.aborted)
      throw new Error(`${program} was not ready in ${timeout} ms\n${output}`, { cause: error });
    throw error;
  } finally {
    // The listener of the event that did not occur.
    waiting.abort();
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), SIGTERM_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
