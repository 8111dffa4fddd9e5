import { useState } from 'react';

// An input offers no more digits of a year than this has.
export const LAST_DAY = '9999-12-31';
export const LAST_MINUTE = `${LAST_DAY}T23:59`;

/** The text of a field while it is edited. A link or the history, which changes the value in the address, replaces it. */
export function useDraft(value: string): readonly [string, (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  const [followed, setFollowed] = useState(value);
  if (value !== followed) {
    setFollowed(value);
    setDraft(value);
  }
  return [draft, setDraft];
}
