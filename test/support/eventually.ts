// Waiting for what takes effect a moment later (a notification, a reconnection): asks again until it has, with a bound.
import { setTimeout as pause } from 'node:timers/promises';

// Milliseconds. Reached only by a failing test.
const TIMEOUT = 60_000;
// Milliseconds: asking without a pause would take the time of those who are waited for.
const BETWEEN_QUESTIONS = 5;

/** Resolves with the first answer that `isReached` accepts; throws with the last one when none comes. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isReached: (answer: Answer) => boolean,
  timeout = TIMEOUT,
): Promise<Answer> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const answer = await ask();
    if (isReached(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not reached; the last answer was ${JSON.stringify(answer)}`);
    await pause(BETWEEN_QUESTIONS);
  }
}
