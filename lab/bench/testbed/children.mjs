// Starts the programs of a run, and exchanges messages with them.
import { once } from 'node:events';
import { inRepository } from '../../../scripts/support/repository.mjs';
import { startChild } from '../../../test/support/processes/child.ts';

/** A program of bench/programs; resolves when it has reported that it is ready. */
export const startProgram = (program, options) =>
  startChild(inRepository('lab', 'bench', 'programs', program), { environment: {}, ...options });

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
