// A pause that a signal ends early.
import type { CancelSignal } from './cancellation.js';
import { systemScheduler } from './scheduler.js';
import type { Scheduler } from './scheduler.js';

/** Rejects with the reason of `signal` once it is aborted. */
export function sleep(
  milliseconds: number,
  signal: CancelSignal,
  scheduler: Scheduler = systemScheduler,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = scheduler.after(milliseconds, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
