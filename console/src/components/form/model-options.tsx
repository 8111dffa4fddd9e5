// The models that match a part of an id or name, for a field to choose from. A catalogue has thousands.
import { useQuery } from '@tanstack/react-query';
import { modelChoicesQuery } from '../../api/models';
import type { ModelKind } from '../../api/models';
import { useSettled } from './use-settled';

interface ModelOptionsProps {
  /** The field's `list`. */
  readonly id: string;
  /** Undefined: all kinds. */
  readonly kind?: ModelKind;
  readonly part: string;
}

export function ModelOptions({ id: list, kind, part }: ModelOptionsProps) {
  const { data: models } = useQuery(modelChoicesQuery(kind, useSettled(part.trim())));
  return (
    <datalist id={list}>
      {models?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </datalist>
  );
}
