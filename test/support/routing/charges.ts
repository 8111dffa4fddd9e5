// Parts of calls as providers bill them, and the charge of a call that consists of them.
import { createEndpoint, createOwnCredential, createTarget } from './endpoints.js';
import type { ModelEndpoint } from '../../../src/catalogue/catalogue-model.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../../src/domain/embeddings/embedding.js';
import type { AppError } from '../../../src/domain/errors.js';
import type { Charge } from '../../../src/domain/spend/charge.js';
import type { SpendBound } from '../../../src/domain/spend/spend-limit.js';
import { chargeFor } from '../../../src/embeddings/charges/call-cost.js';
import type { BilledSlice, RoutedCall, ServedSlice } from '../../../src/routing/routed-call.js';
import type { EndpointTarget } from '../../../src/routing/endpoint-target.js';

const DAY = '2026-11-18';
export const price = (perToken: bigint): ModelEndpoint['prices'] => [
  { effectiveFrom: '2026-01-01', perToken, source: 'test' },
];
export const target = (endpoint: Partial<ModelEndpoint>): EndpointTarget =>
  createTarget(createEndpoint(endpoint));

const FOUR: EmbeddingInput = { form: 'texts', items: ['four'] };
// The bytes of the text, and room for what a tokenizer adds.
export const BOUND = 12;

export function slice(
  promptTokens: number | null,
  totalTokens: number | null,
  overrides: Partial<ServedSlice> = {},
): ServedSlice {
  const priced = target({ prices: price(1n) });
  return {
    start: 0,
    input: FOUR,
    target: priced,
    vectors: [],
    promptTokens,
    totalTokens,
    upstreamId: null,
    ...overrides,
  };
}

const ownTarget = createTarget(createEndpoint({ prices: price(1n) }), createOwnCredential(0));
export const own = (tokens: number): ServedSlice => slice(tokens, tokens, { target: ownTarget });

const REQUEST: EmbeddingRequest = { model: 'vendor/model', input: FOUR, encodingFormat: 'float', extra: {} };

interface Prices {
  readonly wasted?: readonly BilledSlice[];
  readonly error?: AppError | null;
  readonly reserved?: SpendBound | null;
  readonly request?: Partial<EmbeddingRequest>;
}

export function charge(
  served: readonly ServedSlice[],
  { wasted = [], error = null, reserved = null, request = {} }: Prices = {},
): Promise<Charge> {
  const routed: RoutedCall = { served, wasted, attempts: [], passedOver: [], error };
  return chargeFor(routed, { ...REQUEST, ...request }, DAY, reserved);
}
