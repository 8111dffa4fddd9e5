// What the catalogue knows of a model and of the endpoints that serve it.
import type { PicoUsd } from '../domain/money.js';

export type InputForm = 'texts' | 'tokens' | 'multimodal';

/** A price from a day on. Prices are never overwritten: a call is charged by the row that was in force. */
export interface DatedPrice {
  /** The first UTC day, YYYY-MM-DD. */
  readonly effectiveFrom: string;
  /** A whole number of 10^-12 USD for one input token. */
  readonly perToken: PicoUsd;
  /** Where the figure was read. */
  readonly source: string;
}

export interface ModelEndpoint {
  /** The slug of the provider's file. */
  readonly provider: string;
  readonly upstreamModel: string;
  readonly inputForms: readonly InputForm[];
  /** Whether the upstream takes a width itself; otherwise a shorter vector is cut and normalised here. */
  readonly takesDimensions: boolean;
  readonly maxInputsPerCall: number;
  readonly maxTokensPerInput: number;
  readonly prices: readonly DatedPrice[];
}

export interface CatalogueModel {
  /** `vendor/model`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The width of the model's own vectors. */
  readonly nativeDimensions: number;
  /** The other widths that its vectors may be cut to without becoming another model's; null: none. */
  readonly otherDimensions: { readonly least: number; readonly most: number } | null;
  readonly contextLength: number;
  readonly endpoints: readonly ModelEndpoint[];
}

/** The price in force on a day, or null when the catalogue knows none. */
export function priceOn(endpoint: ModelEndpoint, day: string): PicoUsd | null {
  let newest: DatedPrice | null = null;
  for (const price of endpoint.prices) {
    if (price.effectiveFrom <= day && (newest === null || price.effectiveFrom > newest.effectiveFrom))
      newest = price;
  }
  return newest?.perToken ?? null;
}
