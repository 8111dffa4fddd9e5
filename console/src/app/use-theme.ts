import { useSyncExternalStore } from 'react';
import { readTheme, storeTheme } from './theme';
import type { Theme } from './theme';

const listeners = new Set<() => void>();

export function chooseTheme(theme: Theme): void {
  storeTheme(theme);
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readTheme);
}
