import { useEffect, useState } from 'react';

/** Without a key pressed, until a search is sent. */
export const TYPING_MS = 250;

/** The value that a field has kept since the last key was pressed: for searches, which are not sent with each letter. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
