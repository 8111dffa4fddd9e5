// A caller's preferences for the choice of endpoints (docs/contract.md#provider-preferences).
import type { Modality } from '../embeddings/modality.js';
import type { PicoUsd } from '../spend/money.js';

export const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
] as const;
export const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const;
export type Sort = (typeof SORTS)[number];

/** A bound on percentiles: seconds of latency, or tokens a second. */
export type PercentileBound = Readonly<Partial<Record<'p50' | 'p75' | 'p90' | 'p99', number>>>;

/**
 * Per token. `prompt` bounds input tokens of every modality, besides the bound of that modality. `request` and `perImage` are
 * of one request and of one image; they and `completion` bound chat calls.
 */
export type MaxPrices = Readonly<
  Partial<Record<Modality | 'prompt' | 'completion' | 'request' | 'perImage', PicoUsd>>
>;

export interface ProviderPreferences {
  readonly order: readonly string[];
  readonly only: readonly string[];
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly requireParameters: boolean;
  readonly denyDataCollection: boolean;
  readonly zeroDataRetention: boolean;
  readonly quantizations: readonly string[];
  readonly sort: Sort | null;
  readonly maxPrices: MaxPrices | null;
  readonly preferredMaxLatency: PercentileBound | null;
  readonly preferredMinThroughput: PercentileBound | null;
}

export const NO_PREFERENCES: ProviderPreferences = {
  order: [],
  only: [],
  ignore: [],
  allowFallbacks: true,
  requireParameters: false,
  denyDataCollection: false,
  zeroDataRetention: false,
  quantizations: [],
  sort: null,
  maxPrices: null,
  preferredMaxLatency: null,
  preferredMinThroughput: null,
};
