// An embeddings call as the inside of the service knows it.

export const ENCODING_FORMATS = ['float', 'base64'] as const;
export type EncodingFormat = (typeof ENCODING_FORMATS)[number];

/** contract 4.1: a multimodal item is one vector, whatever the number of its parts. */
export interface MultimodalItem {
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

/** The items of a call, one vector each, in order. */
export type EmbeddingInput =
  | { readonly form: 'texts'; readonly items: readonly string[] }
  | { readonly form: 'tokens'; readonly items: readonly (readonly number[])[] }
  | { readonly form: 'multimodal'; readonly items: readonly MultimodalItem[] };

export type EmbeddingItem = EmbeddingInput['items'][number];

export interface EmbeddingRequest {
  /** The catalogue's id of the model, `vendor/model`. */
  readonly model: string;
  readonly input: EmbeddingInput;
  /** The width that the caller wants; absent: the model's own. */
  readonly dimensions?: number | undefined;
  readonly encodingFormat: EncodingFormat;
  readonly inputType?: string | undefined;
  readonly user?: string | undefined;
  /** Members that this service does not know; sent upstream as they came (decisions 8). */
  readonly extra: Readonly<Record<string, unknown>>;
}
