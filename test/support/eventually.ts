// Waiting for what takes effect a moment later (a notification, a reconnection): asks again until it has, with a bound.
import { setTimeout as pause } from 'node:timers/promises';

// Milliseconds. Reached only by a failing test.
const TIMEOUT = 150_000;
// Milliseconds. Asking without a pause would take the time of those who are waited for; on a machine under load, where an
// answer takes longer, so does the pause.
const LEAST_PAUSE = 5;
const MOST_PAUSE = 100;

/** Resolves with the first answer that `isReached` accepts; throws with the last one when none comes. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isReached: (answer: Answer) => boolean,
  timeout = TIMEOUT,
): Promise<Answer> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const askedAt = Date.now();
    const answer = await ask();
    if (isReached(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not reached; the last answer was ${JSON.stringify(answer)}`);
    await pause(Math.min(Math.max(Date.now() - askedAt, LEAST_PAUSE), MOST_PAUSE));
  }
}
