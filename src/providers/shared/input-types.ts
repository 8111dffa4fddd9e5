// The names that input types have in a provider's own vocabulary.
import { INPUT_TYPES, isInputType } from '../../domain/embeddings/input-type.js';
import type { InputType } from '../../domain/embeddings/input-type.js';
import { UnsupportedRequest } from './provider.js';
import type { ProviderCall } from './provider.js';

/** What each type is called upstream; one that the upstream does not distinguish is left out, and not sent. */
export type InputTypeNames = Readonly<Partial<Record<InputType, string>>>;

/** For vocabularies that grow with the models: what is none of the types goes upstream as it came. */
export function inputTypeIn(names: InputTypeNames, { inputType }: ProviderCall): string | undefined {
  if (inputType === undefined) return undefined;
  return isInputType(inputType) ? names[inputType] : inputType;
}

/** For vocabularies that only the operator knows: a type goes upstream, by its own name, where the catalogue lists it. */
export function listedInputTypeIn({ inputType, listedInputTypes }: ProviderCall): string | undefined {
  if (inputType === undefined || !isInputType(inputType)) return inputType;
  return listedInputTypes?.includes(inputType) ? inputType : undefined;
}

/** For closed vocabularies: `others` are the upstream's names that no type stands for. */
export function knownInputTypeIn(
  names: InputTypeNames,
  others: readonly string[],
  call: ProviderCall,
): string | undefined {
  const name = inputTypeIn(names, call);
  const known = [...new Set([...Object.values(names), ...others])];
  if (name === undefined || known.includes(name)) return name;
  const possible = [...new Set([...INPUT_TYPES, ...known])].join(', ');
  throw new UnsupportedRequest(`input_type: ${call.upstreamModel} takes ${possible}`);
}
