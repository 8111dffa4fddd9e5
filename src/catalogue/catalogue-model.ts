// The catalogue's record of a model and of the endpoints that serve it.
import type { Deprecation } from '../domain/deprecation.js';
import type { DataPolicy } from '../domain/providers/provider.js';
import type { EmbeddingInput, InputType } from '../domain/embeddings/embedding.js';
import type { Modality } from '../domain/embeddings/modality.js';
import type { PricedBy } from '../domain/generations/generation.js';
import type { PicoUsd } from '../domain/spend/money.js';

export type InputForm = EmbeddingInput['form'];

/** A price from a day on. Prices are never overwritten: a call is charged by the price in force on its day. */
export interface DatedPrice {
  /** The first UTC day, YYYY-MM-DD. */
  readonly effectiveFrom: string;
  /** A whole number of 10^-12 USD for one input token. */
  readonly perToken: PicoUsd;
  /** The source of the figure. */
  readonly source: string;
}

export interface ModelEndpoint {
  /** The slug of the provider's file. */
  readonly provider: string;
  /** Distinguishes several endpoints of one provider: `deepinfra/turbo`. Absent: the provider's slug. */
  readonly tag?: string;
  readonly upstreamModel: string;
  /** The kind of the model, where the provider has several and the upstream's name does not show it. */
  readonly family?: string;
  readonly inputForms: readonly InputForm[];
  readonly modalities: readonly Modality[];
  /**
   * Input types that the endpoint distinguishes; others are not sent, or are mapped to one of these. Absent: it has no
   * input types.
   */
  readonly inputTypes?: readonly InputType[];
  /** Whether the upstream accepts a width; otherwise vectors are truncated and normalised here. */
  readonly takesDimensions: boolean;
  /** Unknown members of a body that the server gets beside those of its provider; absent: none. */
  readonly allowedMembers?: readonly string[];
  readonly maxInputsPerCall: number;
  readonly maxTokensPerInput: number;
  readonly maxTokensPerCall?: number;
  /** Bytes of the inputs as JSON. */
  readonly maxBytesPerCall?: number;
  /** Empty: the price is unknown, and calls that count towards a limit use the endpoint only through own keys. */
  readonly prices: readonly DatedPrice[];
  /**
   * Token prices of modalities that differ from `prices`; an empty list: unknown. A modality without a list costs the
   * same as text.
   */
  readonly modalityPrices?: Readonly<Partial<Record<Modality, readonly DatedPrice[]>>>;
  /** The provider's fixed rate for a part that is not text. It estimates answers without usage. */
  readonly partRates?: Readonly<Partial<Record<Modality, PartRate>>>;
  readonly quantization: string | null;
  readonly dataPolicy: DataPolicy;
}

interface PartRate {
  readonly tokens: number;
  /** The source of the figure. */
  readonly source: string;
}

export interface CatalogueModel extends Deprecation {
  /** `vendor/model`. Answers, records, prices and the embedding cache know the model by it. */
  readonly id: string;
  /** The permanent id, with the day of its release. Absent: `id`. */
  readonly canonicalSlug?: string;
  /** Further ids of the same vector space, such as former ones. */
  readonly aliases?: readonly string[];
  readonly name: string;
  readonly description: string;
  /** YYYY-MM-DD. */
  readonly createdAt: string;
  /** The width of the model's own vectors. */
  readonly nativeDimensions: number;
  /** Other widths that its vectors may be truncated to within the same model: a range, a list, or none. */
  readonly otherDimensions: { readonly least: number; readonly most: number } | readonly number[] | null;
  readonly contextLength: number;
  /** All endpoints share one vector space: the same model, the same normalisation. */
  readonly endpoints: readonly ModelEndpoint[];
  /** Whether the operator has taken it out of lists and calls. */
  readonly disabled?: boolean;
}

/** A model of any kind. */
export interface NamedModel extends Pick<CatalogueModel, 'id' | 'canonicalSlug' | 'aliases' | 'disabled'> {
  readonly endpoints: readonly Pick<ModelEndpoint, 'provider' | 'tag'>[];
}

/** Every id that calls may use, `id` first. */
export function idsOf({ id, canonicalSlug, aliases = [] }: Omit<NamedModel, 'endpoints'>): string[] {
  return [...new Set([id, canonicalSlug ?? id, ...aliases])];
}

export function endpointTag(endpoint: Pick<ModelEndpoint, 'provider' | 'tag'>): string {
  return endpoint.tag ?? endpoint.provider;
}

/** The price of a modality's token on a day; null when the catalogue has none. */
export function priceOn(endpoint: ModelEndpoint, day: string, modality: Modality = 'text'): PicoUsd | null {
  return rowOn(endpoint.modalityPrices?.[modality] ?? endpoint.prices, day)?.perToken ?? null;
}

/** For the record of a call. `endpoint`: the one that served; undefined: none did. */
export function pricedBy(
  catalogueVersion: number,
  endpoint:
    { readonly prices: readonly Pick<DatedPrice, 'effectiveFrom'>[]; readonly hasCeiling?: true } | undefined,
  day: string,
): PricedBy {
  const effectiveFrom = rowOn(endpoint?.prices ?? [], day)?.effectiveFrom ?? null;
  return endpoint?.hasCeiling
    ? { catalogueVersion, effectiveFrom, isCeiling: true }
    : { catalogueVersion, effectiveFrom };
}

/** The row in force on a day. */
export function rowOn<Row extends { readonly effectiveFrom: string }>(
  rows: readonly Row[],
  day: string,
): Row | null {
  let newest: Row | null = null;
  for (const row of rows)
    if (row.effectiveFrom <= day && (newest === null || row.effectiveFrom > newest.effectiveFrom))
      newest = row;
  return newest;
}

/** Vectors can be truncated here, but not extended. */
export function givesWidth(endpoint: ModelEndpoint, nativeDimensions: number, dimensions: number): boolean {
  return endpoint.takesDimensions || dimensions <= nativeDimensions;
}

/** Null when the model supports this width, else the supported widths in words. */
export function widthProblem(model: CatalogueModel, dimensions: number): string | null {
  const { nativeDimensions: native, otherDimensions: others } = model;
  if (dimensions === native) return null;
  if (others === null) return `${model.id} has ${native} only`;
  if ('least' in others) {
    if (dimensions >= others.least && dimensions <= others.most) return null;
    return `${model.id} can have ${others.least} to ${Math.max(others.most, native)}`;
  }
  if (others.includes(dimensions)) return null;
  const widths = [...new Set([...others, native])].toSorted((one, other) => one - other);
  return `${model.id} can have ${widths.join(', ')}`;
}
