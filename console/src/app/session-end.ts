// A session that ends while a page is open: the sign-in covers the page, which keeps what was typed.
import { useSyncExternalStore } from 'react';

let hasEnded = false;
const listeners = new Set<() => void>();

export function setSessionEnded(isEnded: boolean): void {
  hasEnded = isEnded;
  for (const listen of listeners) listen();
}

export const isSessionEnded = (): boolean => hasEnded;

export function useSessionEnded(): boolean {
  return useSyncExternalStore((listen) => {
    listeners.add(listen);
    return () => listeners.delete(listen);
  }, isSessionEnded);
}
