// The keys whose calls a destination or a provider key serves: all, or those that are chosen.
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { inferenceKeysQuery } from '../../api/keys';
import { Name } from '../display/values';
import { ErrorState, Placeholder } from '../feedback/states';
import { abbreviate } from '../../format';
import styles from './key-choice.module.css';
import { useSettled } from './use-settled';

interface KeyChoiceProps {
  readonly legend: string;
  readonly workspaceId: string;
  /** Hashes. Null: all keys. */
  readonly chosen: readonly string[] | null;
  readonly onChange: (chosen: readonly string[] | null) => void;
}

export function KeyChoice({ legend, workspaceId, chosen, onChange }: KeyChoiceProps) {
  const group = useId();
  // Those that were chosen before all keys were.
  const [former, setFormer] = useState<readonly string[]>([]);
  const chooseAll = () => {
    setFormer(chosen ?? []);
    onChange(null);
  };
  return (
    <fieldset className={styles.lines}>
      <legend className={styles.legend}>{legend}</legend>
      <div className={styles.choices}>
        <label className={styles.choice}>
          <input type="radio" name={group} checked={chosen === null} onChange={chooseAll} />
          All keys
        </label>
        <label className={styles.choice}>
          <input type="radio" name={group} checked={chosen !== null} onChange={() => onChange(former)} />
          Only some keys
        </label>
      </div>
      {chosen !== null && <KeyList {...{ workspaceId, chosen, onChange }} />}
    </fieldset>
  );
}

interface KeyListProps {
  readonly workspaceId: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  /** One key replaces another. */
  readonly isSingle?: boolean;
}

/** Keys to choose from, by name. */
export function KeyList({ workspaceId, chosen, onChange, isSingle = false }: KeyListProps) {
  const group = useId();
  const [search, setSearch] = useState('');
  const [seen, setSeen] = useState<ReadonlyMap<string, string>>(new Map());
  const part = useSettled(search.trim());
  const { data, error, refetch, isPlaceholderData } = useQuery(inferenceKeysQuery(workspaceId, part));
  const names = new Map([...seen, ...(data?.keys ?? []).map(({ hash, name }) => [hash, name] as const)]);
  const found = data?.keys.map(({ hash }) => hash) ?? [];
  // Keys that are chosen already stay in view: older ones than the list, and deleted ones.
  const others = part === '' ? chosen.filter((hash) => !found.includes(hash)) : [];
  const shown = [...found, ...others];
  const toggle = (hash: string, isOn: boolean) => {
    setSeen(names);
    if (isSingle) onChange([hash]);
    else onChange(isOn ? [...chosen, hash] : chosen.filter((other) => other !== hash));
  };
  return (
    <div className={styles.keyList}>
      <input
        className={styles.control}
        type="search"
        aria-label="Search keys by name"
        placeholder="Search keys by name"
        maxLength={200}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {error !== null && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Placeholder />
      ) : (
        <ul className={styles.keys} tabIndex={0} aria-label="Keys" aria-busy={isPlaceholderData}>
          {shown.map((hash) => (
            <li key={hash}>
              <label className={styles.choice}>
                <input
                  type={isSingle ? 'radio' : 'checkbox'}
                  name={isSingle ? group : undefined}
                  checked={chosen.includes(hash)}
                  onChange={({ target }) => toggle(hash, target.checked)}
                />
                <Name text={names.get(hash) ?? abbreviate(hash)} />
              </label>
            </li>
          ))}
          {shown.length === 0 && (
            <li className={styles.hint}>{part === '' ? 'There is no key yet.' : 'No key has this name.'}</li>
          )}
          {data.hasMore && <li className={styles.hint}>There are further keys. Search for them by name.</li>}
        </ul>
      )}
      {!isSingle && (
        <p className={styles.hint}>
          {chosen.length === 0 ? 'Choose at least one key.' : `${chosen.length} chosen.`}
        </p>
      )}
    </div>
  );
}
