// The settings of a kind as fields of a form, and their values as a config.
import { useState } from 'react';
import type { DestinationKind, KindField } from '../../api/destination-kinds';
import { labelOf } from '../../api/destination-kinds';
import { FieldRow, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { HeaderFields, headersOf } from '../../components/form/header-fields';
import type { Header } from '../../components/form/header-fields';

type Config = Readonly<Record<string, unknown>>;

export const HEADERS = 'config.headers';

export const fieldNamesOf = (kind: DestinationKind): string[] => [
  ...kind.fields.map(({ name }) => `config.${name}`),
  HEADERS,
];

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
  const named = headersOf(headers);
  if (Object.keys(named).length > 0 || stored?.['headers'] !== undefined) config['headers'] = named;
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
