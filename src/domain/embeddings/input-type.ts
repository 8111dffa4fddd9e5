// The input types that callers may use with every provider. A provider may have its own words as well.

export const INPUT_TYPES = [
  'search_query',
  'search_document',
  'classification',
  'clustering',
  'semantic_similarity',
] as const;
export type InputType = (typeof INPUT_TYPES)[number];

export function isInputType(inputType: string): inputType is InputType {
  return (INPUT_TYPES as readonly string[]).includes(inputType);
}
