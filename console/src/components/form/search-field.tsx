// A search that is sent when typing rests or Enter is pressed. Its text lives in the address.
import { useEffect, useRef, useState } from 'react';
import styles from './filter-row.module.css';
import { TYPING_MS } from './use-settled';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** The value in the address. */
  readonly value: string | undefined;
  readonly maxLength?: number;
  /** Undefined: the field is empty. */
  readonly onSearch: (text: string | undefined) => void;
}

export function SearchField({ label, placeholder, value = '', maxLength, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // A link or the history has changed the address.
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const send = (): void => {
    const trimmed = text.trim();
    if (trimmed === sent.current) return;
    sent.current = trimmed;
    onSearch(trimmed || undefined);
  };
  useEffect(() => {
    const timer = setTimeout(send, TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <input
      className={styles.search}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      maxLength={maxLength}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onKeyDown={({ key }) => key === 'Enter' && send()}
    />
  );
}
