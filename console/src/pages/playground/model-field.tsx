import { useId } from 'react';
import type { ModelKind } from '../../api/models';
import { TextField } from '../../components/form/form';
import { ModelOptions } from '../../components/form/model-options';

interface ModelFieldProps {
  readonly kind: ModelKind;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Any id, with those of the catalogue that match to choose from. */
export function ModelField({ kind, value, onChange }: ModelFieldProps) {
  const list = useId();
  return (
    <>
      <TextField
        name="model"
        label="Model"
        list={list}
        value={value}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
      <ModelOptions id={list} kind={kind} part={value} />
    </>
  );
}
