// Starts the programs of a run, and exchanges messages with them.
import { once } from 'node:events';
import { inRepository } from '../../scripts/support/repository.mjs';
import { importTypeScript } from '../../scripts/support/typescript.mjs';

/** A program of this folder, or one named by its whole path; resolves when it has reported that it is ready. */
export async function startProgram(program, options) {
  const { startChild } = await importTypeScript('conformance/child.ts');
  const path = program.includes('/') ? program : inRepository('bench', 'support', program);
  return startChild(path, { environment: {}, ...options });
}

/** By program: its answer to the last question. */
const answers = new WeakMap();

/** Sends a message and resolves with the answer of the program. Answers have no names, so questions wait for each other. */
export function ask(program, message, signal) {
  const answer = (answers.get(program) ?? Promise.resolve()).then(() => exchange(program, message, signal));
  answers.set(
    program,
    answer.catch(() => undefined),
  );
  return answer;
}

async function exchange({ process: child }, message, signal) {
  const waiting = new AbortController();
  const signals = { signal: AbortSignal.any([signal, waiting.signal]) };
  try {
    child.send(message);
    const [answer] = await Promise.race([
      once(child, 'message', signals),
      once(child, 'exit', signals).then(([code, killedBy]) => {
        throw new Error(`a program of the bench ended with ${code ?? killedBy}`);
      }),
    ]);
    return answer;
  } finally {
    waiting.abort();
  }
}
