import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { modelChoicesQuery } from '../../api/models';
import type { ModelKind } from '../../api/models';
import { TextField } from '../../components/form/form';
import { ModelOptions } from '../../components/form/model-options';
import { useSettled } from '../../components/form/use-settled';

interface ModelFieldProps {
  readonly name?: string;
  readonly label?: string;
  readonly kind: ModelKind;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Any id, with those of the catalogue that match to choose from. */
export function ModelField({ name = 'model', label = 'Model', kind, value, onChange }: ModelFieldProps) {
  const list = useId();
  return (
    <>
      <TextField
        name={name}
        label={label}
        list={list}
        value={value}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
      <ModelOptions id={list} kind={kind} part={value} />
    </>
  );
}

/** Whether a chat model of the catalogue reads images; false while that is not known. */
export function useTakesImages(model: string): boolean {
  const { data } = useQuery(modelChoicesQuery('text', useSettled(model.trim())));
  const found = data?.find(({ id }) => id === model.trim());
  return found?.architecture.input_modalities.includes('image') ?? false;
}
