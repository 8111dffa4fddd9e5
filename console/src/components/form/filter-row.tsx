// Above a list: its search and its filters, beside each other where there is room.
import type { ReactNode } from 'react';
import styles from './filter-row.module.css';

export function FilterRow({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <search className={styles.row} aria-label={label}>
      {children}
    </search>
  );
}

interface FilterCheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function FilterCheck({ label, checked, onChange }: FilterCheckProps) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}

interface FilterSelectProps {
  readonly label: string;
  /** Undefined: any. */
  readonly value: string | undefined;
  readonly any: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string | undefined) => void;
}

export function FilterSelect({ label, value = '', any, choices, onChange }: FilterSelectProps) {
  return (
    <select
      className={styles.select}
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value || undefined)}
    >
      <option value="">{any}</option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}
