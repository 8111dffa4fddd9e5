// The present time for texts like "3 minutes ago", which are shown again every half minute.
import { useSyncExternalStore } from 'react';

const STEP_MS = 30_000;
const SECOND_MS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, STEP_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** To the second, since it must hold while a page is rendered. */
const readNow = (): number => Math.floor(Date.now() / SECOND_MS) * SECOND_MS;

/** Read at every rendering: the time of the last step would be behind data that have arrived since. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, readNow);
}
