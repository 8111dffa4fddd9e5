// Runs a program to its end, keeps its output in case it fails, and stops it on interruption.
import { spawn } from 'node:child_process';
import { repositoryRoot } from './repository.mjs';
import { sendSignal } from './processes.mjs';

const KEPT_OUTPUT_CHARACTERS = 100_000;
const SIGTERM_TIMEOUT_MS = 3000;

/** A failure whose message is complete for the terminal: printed without a stack. */
export class ScriptError extends Error {}

/**
 * Resolves with the output of a program that ended with 0. It leads a process group of its own, so that its children
 * end with it; Ctrl-C therefore reaches it only through `signal`.
 */
export function runCommand(
  program,
  programArguments,
  { environment = process.env, signal, onStart, options } = {},
) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let output = '';
    let timer;
    const child = spawn(program, programArguments, {
      cwd: repositoryRoot,
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
      env: environment,
    });
    const stop = () => {
      const group = process.platform === 'win32' ? child.pid : -child.pid;
      sendSignal(group, 'SIGTERM');
      timer = setTimeout(() => sendSignal(group, 'SIGKILL'), SIGTERM_TIMEOUT_MS);
    };
    const finish = (settle) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      if (signal?.aborted) reject(signal.reason);
      else settle();
    };
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT_CHARACTERS);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.on('error', (error) => {
      const isMissing = error.code === 'ENOENT';
      const message = isMissing ? `${program} was not found on this machine` : `${program}: ${error.message}`;
      finish(() => reject(new ScriptError(message)));
    });
    child.on('close', (code, killedBy) =>
      finish(() => {
        if (code === 0) resolve(output);
        else
          reject(new ScriptError(`${output.trimEnd()}\n${program} ended with ${killedBy ?? `code ${code}`}`));
      }),
    );
    if (child.pid === undefined) return;
    signal?.addEventListener('abort', stop, { once: true });
    onStart?.(child.pid);
  });
}
