// What a caller may say about the choice of endpoints. Source: contract 4.4.
import type { PicoUsd } from './money.js';

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
  /** For one input token; null: no bound. */
  readonly maxPromptPrice: PicoUsd | null;
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
  maxPromptPrice: null,
  preferredMaxLatency: null,
  preferredMinThroughput: null,
};
