// The settings of a kind as fields of a form, and their values as a config.
import { useState } from 'react';
import type { DestinationKind, KindField } from '../../api/destination-kinds';
import { labelOf } from '../../api/destination-kinds';
import { Button, IconButton } from '../../components/actions/button';
import { Notice } from '../../components/feedback/states';
import { FieldRow, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import styles from './destinations.module.css';

type Config = Readonly<Record<string, unknown>>;

export interface Header {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

export const HEADERS = 'config.headers';

export const fieldNamesOf = (kind: DestinationKind): string[] => [
  ...kind.fields.map(({ name }) => `config.${name}`),
  HEADERS,
];

export function readHeaders(config: Config | undefined): readonly Header[] {
  const headers = (config?.['headers'] ?? {}) as Readonly<Record<string, string>>;
  return Object.entries(headers).map(([name, value], id) => ({ id, name, value }));
}

/** Why the headers cannot be sent as they are; undefined: they can. */
export function problemOfHeaders(headers: readonly Header[]): string | undefined {
  const names = headers.map(({ name }) => name.trim().toLowerCase());
  if (headers.some(({ value }, index) => names[index] === '' && value !== '')) return 'A header has no name';
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  return twice === undefined ? undefined : `Two headers have the name ${twice}`;
}

/** An empty optional field is left out of a new config, and null in a change: the service keeps omitted members. */
export function readConfig(
  kind: DestinationKind,
  values: FormValues,
  headers: readonly Header[],
  stored: Config | undefined,
): Config {
  const config: Record<string, unknown> = {};
  for (const { name, isRequired } of kind.fields) {
    const text = values.text(`config.${name}`);
    if (text !== '' || isRequired) config[name] = text;
    else if (stored?.[name] !== undefined) config[name] = null;
  }
  const named = headers.filter(({ name }) => name.trim() !== '');
  if (named.length > 0 || stored?.['headers'] !== undefined) {
    config['headers'] = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
  }
  return config;
}

interface KindFieldsProps {
  readonly kind: DestinationKind;
  readonly stored: Config | undefined;
  readonly headers: readonly Header[];
  readonly headersProblem: string | undefined;
  readonly onHeadersChange: (headers: readonly Header[]) => void;
}

export function KindFields({ kind, stored, headers, headersProblem, onHeadersChange }: KindFieldsProps) {
  const required = kind.fields.filter(({ isRequired }) => isRequired);
  const optional = kind.fields.filter(({ isRequired }) => !isRequired);
  return (
    <>
      <FieldRow>
        {required.map((field) => (
          <ConfigField key={field.name} field={field} stored={stored} />
        ))}
      </FieldRow>
      {optional.length > 0 && (
        <FieldRow>
          {optional.map((field) => (
            <ConfigField key={field.name} field={field} stored={stored} />
          ))}
        </FieldRow>
      )}
      <HeaderFields headers={headers} problem={headersProblem} onChange={onHeadersChange} />
    </>
  );
}

function ConfigField({ field, stored }: { readonly field: KindField; readonly stored: Config | undefined }) {
  const { name, description, isRequired, isSecret, choices } = field;
  const value = stored?.[name];
  const initial = typeof value === 'string' ? value : (field.default ?? '');
  const frame = {
    name: `config.${name}`,
    label: isRequired ? labelOf(name) : `${labelOf(name)} (optional)`,
    hint: description.replaceAll('`', ''),
  };
  if (choices !== null) {
    return (
      <SelectField
        {...frame}
        defaultValue={initial}
        choices={choices.map((choice) => ({ value: choice, label: choice }))}
      />
    );
  }
  if (isSecret) return <SecretField {...frame} stored={typeof value === 'string' ? value : ''} />;
  return <TextField {...frame} defaultValue={initial} spellCheck={false} />;
}

/** Shows the mask of a stored secret; a text that is typed or pasted over it is hidden. */
function SecretField({
  stored,
  ...frame
}: {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly stored: string;
}) {
  const [text, setText] = useState(stored);
  const isStored = stored !== '' && text === stored;
  return (
    <TextField
      {...frame}
      hint={isStored ? `${frame.hint} A value is stored; type another one to replace it.` : frame.hint}
      type={isStored ? 'text' : 'password'}
      autoComplete="new-password"
      spellCheck={false}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onFocus={({ target }) => {
        if (isStored) target.select();
      }}
    />
  );
}

interface HeaderFieldsProps {
  readonly headers: readonly Header[];
  readonly problem: string | undefined;
  readonly onChange: (headers: readonly Header[]) => void;
}

function HeaderFields({ headers, problem, onChange }: HeaderFieldsProps) {
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
