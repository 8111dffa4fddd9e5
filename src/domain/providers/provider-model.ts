// The models that providers list, as background work or an operator asked for them (docs/contract.md#discovery). A name enables
// nothing by itself.

export const MODEL_KINDS = ['chat', 'embeddings', 'rerank', 'other'] as const;
export type DiscoveredKind = (typeof MODEL_KINDS)[number];

/** As the provider states them; null: it does not. None of them decides about a call but `kind`. */
export interface ModelFacts {
  readonly kind: DiscoveredKind | null;
  readonly displayName: string | null;
  readonly contextLength: number | null;
  readonly maxOutputTokens: number | null;
  /** USD for a million tokens, as decimal text. A provider that states one of them states none. */
  readonly prices: { readonly prompt: string; readonly completion: string } | null;
  /** UTC days, YYYY-MM-DD. */
  readonly releasedOn: string | null;
  readonly retiresOn: string | null;
  /** Names of the provider. */
  readonly successor: string | null;
  readonly aliases: readonly string[];
}

export interface ProviderModel {
  readonly name: string;
  readonly facts: ModelFacts;
}

export interface SeenModel extends ProviderModel {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
}

/** When a provider was asked. */
export interface ModelListState {
  /** Null: never. */
  readonly askedAt: Date | null;
  /** The newest answer; null: none yet. */
  readonly answeredAt: Date | null;
  /** Why the newest request has no answer; null: it has one. */
  readonly problem: string | null;
}

/** Hours after which a name that its provider no longer lists is not callable without an entry of the catalogue. */
export const CALLABLE_HOURS = 24;
/** Names that are kept of one list; the rest is left out. */
export const MAX_LISTED_MODELS = 2_000;
