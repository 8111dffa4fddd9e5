// What the catalogue knows of a model and of the endpoints that serve it.
import type { EmbeddingInput } from '../domain/embeddings/embedding.js';
import type { InputType } from '../domain/embeddings/input-type.js';
import type { Modality } from '../domain/embeddings/modality.js';
import type { PicoUsd } from '../domain/spend/money.js';

export type InputForm = EmbeddingInput['form'];

/** A price from a day on. Prices are never overwritten: a call is charged by the row that was in force. */
export interface DatedPrice {
  /** The first UTC day, YYYY-MM-DD. */
  readonly effectiveFrom: string;
  /** A whole number of 10^-12 USD for one input token. */
  readonly perToken: PicoUsd;
  /** Where the figure was read. */
  readonly source: string;
}

export interface DataPolicy {
  /** The provider keeps inputs beyond the call. */
  readonly retainsPrompts: boolean;
  /** The provider may train on inputs. */
  readonly trains: boolean;
}

export interface ModelEndpoint {
  /** The slug of the provider's file. */
  readonly provider: string;
  /** Tells several endpoints of one provider apart: `deepinfra/turbo`. Absent: the provider's slug. */
  readonly tag?: string;
  readonly upstreamModel: string;
  readonly inputForms: readonly InputForm[];
  readonly modalities: readonly Modality[];
  /** Those that it tells apart; others are not sent, or stand for one of these. Absent: it has no input types. */
  readonly inputTypes?: readonly InputType[];
  /** Whether the upstream takes a width itself; otherwise a shorter vector is cut and normalised here. */
  readonly takesDimensions: boolean;
  readonly maxInputsPerCall: number;
  readonly maxTokensPerInput: number;
  readonly maxTokensPerCall?: number;
  /** Of the inputs as JSON. */
  readonly maxBytesPerCall?: number;
  /** Empty: the price is not known, and calls that count toward a limit are not sent there, but through own keys. */
  readonly prices: readonly DatedPrice[];
  /**
   * The prices of tokens that are not of text, where they differ from `prices`; an empty list: not known. A modality that
   * is not named costs what text costs.
   */
  readonly modalityPrices?: Readonly<Partial<Record<Modality, readonly DatedPrice[]>>>;
  readonly quantization: string | null;
  readonly dataPolicy: DataPolicy;
}

export interface CatalogueModel {
  /** `vendor/model`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** YYYY-MM-DD. */
  readonly createdAt: string;
  /** The width of the model's own vectors. */
  readonly nativeDimensions: number;
  /** The other widths that its vectors may be cut to without becoming another model's: a range, a list, or none. */
  readonly otherDimensions: { readonly least: number; readonly most: number } | readonly number[] | null;
  readonly contextLength: number;
  /** All of one vector space: the same model, the same normalisation. */
  readonly endpoints: readonly ModelEndpoint[];
}

export function endpointTag(endpoint: ModelEndpoint): string {
  return endpoint.tag ?? endpoint.provider;
}

/** The price in force on a day of a token of a modality, or null when the catalogue knows none. */
export function priceOn(endpoint: ModelEndpoint, day: string, modality: Modality = 'text'): PicoUsd | null {
  let newest: DatedPrice | null = null;
  for (const price of endpoint.modalityPrices?.[modality] ?? endpoint.prices) {
    if (price.effectiveFrom <= day && (newest === null || price.effectiveFrom > newest.effectiveFrom))
      newest = price;
  }
  return newest?.perToken ?? null;
}

/** A vector can be cut here, and nothing can be added to it. */
export function givesWidth(endpoint: ModelEndpoint, nativeDimensions: number, dimensions: number): boolean {
  return endpoint.takesDimensions || dimensions <= nativeDimensions;
}

/** Null when the model's vectors can have this width, else what is possible, in words. */
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
