// Whether the window is as narrow as that of a phone: content that stands elsewhere there is shown once, not twice.
import { useSyncExternalStore } from 'react';

const PHONE = matchMedia('(max-width: 39.99rem)');

function subscribe(listener: () => void): () => void {
  PHONE.addEventListener('change', listener);
  return () => PHONE.removeEventListener('change', listener);
}

export const usePhone = (): boolean => useSyncExternalStore(subscribe, () => PHONE.matches);
