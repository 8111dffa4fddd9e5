// Starts Jest with the options of this project: ES modules, and an end when it is interrupted.
import { spawn } from 'node:child_process';
import { inRepository, repositoryRoot } from './repository.mjs';

const SIGTERM_TIMEOUT_MS = 5000;

/** Resolves with Jest's exit code. Jest keeps the terminal, so that its own colours and questions work. */
export function runJest(jestArguments, environment, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        inRepository('node_modules/jest/bin/jest.js'),
        ...jestArguments,
      ],
      { cwd: repositoryRoot, stdio: 'inherit', env: { ...process.env, ...environment } },
    );
    let timer;
    signal.addEventListener('abort', () => {
      child.kill('SIGTERM');
      timer = setTimeout(() => child.kill('SIGKILL'), SIGTERM_TIMEOUT_MS);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (signal.aborted) reject(signal.reason);
      else resolve(code ?? 1);
    });
  });
}
