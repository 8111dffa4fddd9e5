// Endpoints, targets and candidates for the specs of routing.
import type { CatalogueModel, ModelEndpoint } from '../../../src/catalogue/catalogue-model.js';
import { parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import type { Modality } from '../../../src/domain/embeddings/modality.js';
import { local } from '../../../src/providers/local.js';
import { staysWithin } from '../../../src/routing/bounded-price.js';
import { EndpointHealth } from '../../../src/routing/endpoints/endpoint-health.js';
import type { Candidate, OrderingContext } from '../../../src/routing/endpoints/endpoint-order.js';
import type { EndpointTarget, OwnCredential } from '../../../src/routing/endpoint-target.js';

export function createEndpoint(overrides: Partial<ModelEndpoint> = {}): ModelEndpoint {
  return {
    provider: 'openai',
    upstreamModel: 'some-model',
    inputForms: ['texts', 'tokens', 'multimodal'],
    modalities: ['text'],
    takesDimensions: true,
    maxInputsPerCall: 2048,
    maxTokensPerInput: 8192,
    prices: [],
    quantization: null,
    dataPolicy: { retainsPrompts: false, trains: false },
    ...overrides,
  };
}

export function createModel(endpoints: readonly ModelEndpoint[], id = 'vendor/model'): CatalogueModel {
  return {
    id,
    name: id,
    description: '',
    createdAt: '2026-01-01',
    nativeDimensions: 4,
    otherDimensions: null,
    contextLength: 8192,
    endpoints,
  };
}

export function createTarget(
  endpoint: ModelEndpoint,
  credential: OwnCredential | null = null,
): EndpointTarget {
  return {
    model: createModel([endpoint]),
    endpoint,
    provider: { ...local, slug: endpoint.provider, name: endpoint.provider },
    credential,
  };
}

export function createOwnCredential(position: number, overrides: Partial<OwnCredential> = {}): OwnCredential {
  return {
    id: `credential-${position}`,
    apiKey: 'secret',
    version: 0,
    isFallback: false,
    excludesShared: false,
    declaredZdr: null,
    position,
    ...overrides,
  };
}

interface CandidateOptions extends Partial<ModelEndpoint> {
  /** USD a million tokens. */
  readonly usd?: string | null;
  readonly credential?: OwnCredential | null;
  readonly health?: EndpointHealth;
}

/** The day whose prices count. */
export const DAY = '2026-06-01';

/** The context of a call with a text, where chance always takes the first. */
export function createOrderingContext(
  overrides: Partial<OrderingContext<EndpointTarget>> & { readonly modalities?: readonly Modality[] } = {},
): OrderingContext<EndpointTarget> {
  const { modalities = ['text'], ...others } = overrides;
  return {
    now: 0,
    staysWithin: (bounds, target) => staysWithin(bounds, target, DAY, modalities),
    random: () => 0,
    supportsAllParameters: () => true,
    ...others,
  };
}

/** A candidate whose provider's slug is its name, unless the terms say otherwise. */
export function createCandidate(
  name: string,
  { usd = '1', credential = null, health = new EndpointHealth(), ...endpoint }: CandidateOptions = {},
): Candidate<EndpointTarget> {
  const price = usd === null ? null : parseUsdPerMillion(usd);
  const prices = price === null ? [] : [{ effectiveFrom: '2026-01-01', perToken: price, source: '' }];
  return {
    target: createTarget(createEndpoint({ provider: name, prices, ...endpoint }), credential),
    health,
    price,
  };
}

/** A health that is out at `now`. */
export function createOutage(now: number): EndpointHealth {
  const health = new EndpointHealth();
  for (let failure = 0; failure < 10; failure++) health.recordFailure(now);
  return health;
}
