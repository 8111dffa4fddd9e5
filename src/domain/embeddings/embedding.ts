// The internal form of an embeddings call.

export const ENCODING_FORMATS = ['float', 'base64'] as const;
export type EncodingFormat = (typeof ENCODING_FORMATS)[number];

/** A multimodal item becomes one vector for any number of parts (docs/contract.md#embeddings-request). */
export interface MultimodalItem {
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

/** The items of a call in order, one vector each. */
export type EmbeddingInput =
  | { readonly form: 'texts'; readonly items: readonly string[] }
  | { readonly form: 'tokens'; readonly items: readonly (readonly number[])[] }
  | { readonly form: 'multimodal'; readonly items: readonly MultimodalItem[] };

export type EmbeddingItem = EmbeddingInput['items'][number];

export interface EmbeddingRequest {
  /** As the caller names it: an id, an alias or a bare name, with or without a variant. */
  readonly model: string;
  readonly input: EmbeddingInput;
  /** The requested width; absent: the model's own. */
  readonly dimensions?: number | undefined;
  readonly encodingFormat: EncodingFormat;
  readonly inputType?: string | undefined;
  readonly user?: string | undefined;
  /** Unknown members, forwarded unchanged (docs/contract.md#conventions). */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The input types that callers may use with every provider. A provider may have its own words as well. */
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
