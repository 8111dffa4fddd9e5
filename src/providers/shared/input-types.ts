// Maps input types to a provider's own vocabulary.
import { INPUT_TYPES, isInputType } from '../../domain/embeddings/embedding.js';
import type { InputType } from '../../domain/embeddings/embedding.js';
import { UnsupportedRequest } from './provider.js';
import type { ProviderCall } from './provider.js';

/** The upstream names of the types. A type that the upstream does not distinguish is omitted and not sent. */
export type InputTypeNames = Readonly<Partial<Record<InputType, string>>>;

/** For vocabularies that grow with the models: unknown types are forwarded unchanged. */
export function inputTypeIn(names: InputTypeNames, { inputType }: ProviderCall): string | undefined {
  if (inputType === undefined) return undefined;
  return isInputType(inputType) ? names[inputType] : inputType;
}

/** For vocabularies that only the operator knows: a type is forwarded by its own name if the catalogue lists it. */
export function listedInputTypeIn({ inputType, listedInputTypes }: ProviderCall): string | undefined {
  if (inputType === undefined || !isInputType(inputType)) return inputType;
  return listedInputTypes?.includes(inputType) ? inputType : undefined;
}

/** For closed vocabularies: `others` are upstream names without a type of this service. */
export function knownInputTypeIn(
  names: InputTypeNames,
  others: readonly string[],
  call: ProviderCall,
): string | undefined {
  const name = inputTypeIn(names, call);
  const known = [...new Set([...Object.values(names), ...others])];
  if (name === undefined || known.includes(name)) return name;
  const possible = [...new Set([...INPUT_TYPES, ...known])].join(', ');
  throw new UnsupportedRequest('input_type', `${call.upstreamModel} takes ${possible}`);
}
