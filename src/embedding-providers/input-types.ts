// The input types that callers may use with every provider, and their names in a provider's own vocabulary.
import { UnsupportedRequest } from './embedding-provider.js';
import type { ProviderCall } from './embedding-provider.js';

const CANONICAL_INPUT_TYPES = [
  'search_query',
  'search_document',
  'classification',
  'clustering',
  'semantic_similarity',
] as const;
type CanonicalInputType = (typeof CANONICAL_INPUT_TYPES)[number];

/** What each type is called upstream; one that the upstream does not distinguish is left out, and not sent. */
export type InputTypeNames = Readonly<Partial<Record<CanonicalInputType, string>>>;

function isCanonicalInputType(inputType: string): inputType is CanonicalInputType {
  return (CANONICAL_INPUT_TYPES as readonly string[]).includes(inputType);
}

/** For vocabularies that grow with the models: what is not canonical goes upstream as it came. */
export function inputTypeIn(names: InputTypeNames, { inputType }: ProviderCall): string | undefined {
  if (inputType === undefined) return undefined;
  return isCanonicalInputType(inputType) ? names[inputType] : inputType;
}

/** For closed vocabularies: `others` are the upstream's names that no canonical type stands for. */
export function knownInputTypeIn(
  names: InputTypeNames,
  others: readonly string[],
  call: ProviderCall,
): string | undefined {
  const name = inputTypeIn(names, call);
  const known = [...new Set([...Object.values(names), ...others])];
  if (name === undefined || known.includes(name)) return name;
  const possible = [...new Set([...CANONICAL_INPUT_TYPES, ...known])].join(', ');
  throw new UnsupportedRequest(`input_type: ${call.upstreamModel} takes ${possible}`);
}
