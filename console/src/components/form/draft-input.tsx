import { useState } from 'react';
import type { ComponentProps } from 'react';

// An input offers no more digits of a year than this has.
export const LAST_DAY = '9999-12-31';
export const LAST_MINUTE = `${LAST_DAY}T23:59`;

interface DraftInputProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  /** The value in the address. A link or the history, which changes it, replaces what is typed. */
  readonly value: string;
  /** With the text without spaces around it. */
  readonly onApply: (text: string) => void;
}

/** An input that applies when it is left or Enter is pressed, not with each letter. */
export function DraftInput({ value, onApply, ...input }: DraftInputProps) {
  const [draft, setDraft] = useState(value);
  const [followed, setFollowed] = useState(value);
  if (value !== followed) {
    setFollowed(value);
    setDraft(value);
  }
  const apply = () => draft.trim() !== value && onApply(draft.trim());
  return (
    <input
      {...input}
      value={draft}
      onChange={({ target }) => setDraft(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}
