// Custom headers of a receiver as rows of a form.
import { Button, IconButton } from '../actions/button';
import { Notice } from '../feedback/states';
import styles from './header-fields.module.css';

export interface Header {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

type Headers = Readonly<Record<string, string>>;

export const readHeaders = (headers: Headers = {}): readonly Header[] =>
  Object.entries(headers).map(([name, value], id) => ({ id, name, value }));

/** Rows without a name are left out. */
export function headersOf(rows: readonly Header[]): Headers {
  const named = rows.filter(({ name }) => name.trim() !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

/** Why the headers cannot be sent as they are; undefined: they can. */
export function problemOfHeaders(headers: readonly Header[]): string | undefined {
  const names = headers.map(({ name }) => name.trim().toLowerCase());
  if (headers.some(({ value }, index) => names[index] === '' && value !== '')) return 'A header has no name';
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  return twice === undefined ? undefined : `Two headers have the name ${twice}`;
}

interface HeaderFieldsProps {
  readonly headers: readonly Header[];
  readonly problem: string | undefined;
  readonly onChange: (headers: readonly Header[]) => void;
}

export function HeaderFields({ headers, problem, onChange }: HeaderFieldsProps) {
  const change = (id: number, part: Partial<Header>) =>
    onChange(headers.map((header) => (header.id === id ? { ...header, ...part } : header)));
  const add = () =>
    onChange([...headers, { id: Math.max(-1, ...headers.map(({ id }) => id)) + 1, name: '', value: '' }]);
  return (
    <fieldset className={styles.lines}>
      <legend className={styles.legend}>Custom headers</legend>
      <p className={styles.hint}>Sent with every delivery. Stored values are shown masked.</p>
      {headers.map(({ id, name, value }, index) => (
        <div key={id} className={styles.line}>
          <input
            className={styles.control}
            aria-label={`Name of header ${index + 1}`}
            placeholder="X-Team"
            value={name}
            onChange={({ target }) => change(id, { name: target.value })}
          />
          <input
            className={styles.control}
            aria-label={`Value of header ${index + 1}`}
            placeholder="Value"
            value={value}
            onChange={({ target }) => change(id, { value: target.value })}
          />
          <IconButton
            icon="close"
            label={`Remove header ${name === '' ? index + 1 : name}`}
            onClick={() => onChange(headers.filter((header) => header.id !== id))}
          />
        </div>
      ))}
      {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
      <div>
        <Button icon="plus" onClick={add}>
          Add header
        </Button>
      </div>
    </fieldset>
  );
}
