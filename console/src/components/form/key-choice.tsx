// The keys whose calls a destination or a provider key serves: all, or those that are chosen.
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { keyChoicesQuery } from '../../api/keys';
import { Name } from '../display/values';
import { abbreviate } from '../../format';
import styles from './key-choice.module.css';

interface KeyChoiceProps {
  readonly legend: string;
  readonly workspaceId: string;
  /** Hashes. Null: all keys. */
  readonly chosen: readonly string[] | null;
  readonly onChange: (chosen: readonly string[] | null) => void;
}

export function KeyChoice({ legend, workspaceId, chosen, onChange }: KeyChoiceProps) {
  const group = useId();
  const { data } = useQuery(keyChoicesQuery(workspaceId));
  const [search, setSearch] = useState('');
  const known = (data ?? []).filter(({ is_management_key: isManagement }) => !isManagement);
  const names = new Map(known.map(({ hash, name }) => [hash, name]));
  // Keys that are chosen already stay in view: older ones than the list, and deleted ones.
  const others = (chosen ?? []).filter((hash) => !names.has(hash));
  const shown = [...known.map(({ hash }) => hash), ...others].filter((hash) =>
    (names.get(hash) ?? hash).toLowerCase().includes(search.toLowerCase()),
  );
  const toggle = (hash: string, isOn: boolean) =>
    onChange(isOn ? [...(chosen ?? []), hash] : (chosen ?? []).filter((other) => other !== hash));
  return (
    <fieldset className={styles.lines}>
      <legend className={styles.legend}>{legend}</legend>
      <div className={styles.choices}>
        <label className={styles.choice}>
          <input type="radio" name={group} checked={chosen === null} onChange={() => onChange(null)} />
          All keys
        </label>
        <label className={styles.choice}>
          <input type="radio" name={group} checked={chosen !== null} onChange={() => onChange([])} />
          Only some keys
        </label>
      </div>
      {chosen !== null && (
        <div className={styles.keyList}>
          <input
            className={styles.control}
            type="search"
            aria-label="Search keys by name"
            placeholder={`Search ${known.length} keys`}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <ul className={styles.keys} tabIndex={0} aria-label="Keys">
            {shown.map((hash) => (
              <li key={hash}>
                <label className={styles.choice}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(hash)}
                    onChange={({ target }) => toggle(hash, target.checked)}
                  />
                  <Name text={names.get(hash) ?? abbreviate(hash)} />
                </label>
              </li>
            ))}
            {shown.length === 0 && <li className={styles.hint}>No key has this name.</li>}
          </ul>
          <p className={styles.hint}>
            {chosen.length === 0 ? 'Choose at least one key.' : `${chosen.length} chosen.`}
          </p>
        </div>
      )}
    </fieldset>
  );
}
