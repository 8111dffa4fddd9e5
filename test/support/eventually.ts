// Waiting for what takes effect a moment later (a notification, a reconnection): asks again until it has, with a bound.
import { setImmediate as yieldToOthers } from 'node:timers/promises';

// Milliseconds. Reached only by a failing test.
const PATIENCE = 10_000;

/** Resolves with the first answer that `isReached` accepts; throws with the last one when none comes. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isReached: (answer: Answer) => boolean,
): Promise<Answer> {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const answer = await ask();
    if (isReached(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not reached; the last answer was ${JSON.stringify(answer)}`);
    await yieldToOthers();
  }
}
