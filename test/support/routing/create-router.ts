// A router over endpoints that do what a spec says. They are tried in order, and take one input a call.
import { YieldQueue } from '../../../src/concurrency/yield-queue.js';
import type { AppConfig } from '../../../src/config/app-config.js';
import { Tracing } from '../../../src/config/tracing/tracing.js';
import type { EmbeddingRequest } from '../../../src/domain/embeddings/embedding.js';
import type { EmbeddingMembers } from '../../../src/providers/shared/embedding-members.js';
import type { ProviderAnswer } from '../../../src/providers/shared/provider.js';
import type { CancelSignal } from '../../../src/concurrency/cancellation.js';
import { EmbeddingRouter } from '../../../src/routing/embeddings/embedding-router.js';
import type { RoutedCall } from '../../../src/routing/routed-call.js';
import { CredentialCircuits } from '../../../src/routing/credentials/credential-circuits.js';
import { EndpointAttempts } from '../../../src/routing/fallback/endpoint-attempts.js';
import type { EndpointCaller } from '../../../src/routing/endpoints/endpoint-caller.js';
import type { EndpointHealth } from '../../../src/routing/endpoints/endpoint-health.js';
import { EndpointHealthRegistry } from '../../../src/routing/endpoints/endpoint-health-registry.js';
import { EndpointFallback } from '../../../src/routing/fallback/endpoint-fallback.js';
import { RetryPolicy } from '../../../src/routing/fallback/retry-policy.js';
import type { RoutingMetrics } from '../../../src/routing/routing-metrics.js';
import { TestClock } from '../app/clock.js';
import { createEndpoint, createModel, createTarget } from './endpoints.js';

/** The behaviour of the endpoint at `index` for the input at `input`. */
export type EndpointDeed = (index: number, input: number, signal: CancelSignal) => Promise<ProviderAnswer>;

export interface TestRouter {
  /** A call of so many inputs. */
  run(inputs: number, options?: RunOptions): Promise<RoutedCall>;
  health(index: number): EndpointHealth;
}

interface RunOptions {
  /** Milliseconds until its deadline. */
  readonly time?: number;
  readonly accountId?: string;
  readonly extra?: EmbeddingRequest['extra'];
  /** Of the providers of all endpoints. */
  readonly members?: EmbeddingMembers;
}

export function createRouter(
  endpointCount: number,
  deed: EndpointDeed,
  overrides: Partial<AppConfig> = {},
): TestRouter {
  const endpoints = Array.from({ length: endpointCount }, (_value, index) =>
    createEndpoint({ provider: `provider-${index}`, maxInputsPerCall: 1 }),
  );
  const model = createModel(endpoints);
  const targets = endpoints.map((endpoint) => ({ ...createTarget(endpoint), model }));
  const caller: Pick<EndpointCaller, 'call'> = {
    call: ({ endpoint }, _request, { items }, { signal }) =>
      deed(endpoints.indexOf(endpoint), Number(items[0]), signal),
  };
  const health = new EndpointHealthRegistry();
  const config = { providerTimeout: 60_000, providerRetries: 1, retryBaseDelay: 0, endpointConcurrency: 100 };
  const metrics: Partial<RoutingMetrics> = {
    attempted: () => undefined,
    waits: () => () => undefined,
    credentialRejected: () => undefined,
  };
  const configured = { ...config, ...overrides } as AppConfig;
  const attempts = new EndpointAttempts(health, configured, metrics as RoutingMetrics, new Tracing(null));
  const circuits = new CredentialCircuits(new TestClock(), metrics as RoutingMetrics);
  const router = new EmbeddingRouter(
    caller as EndpointCaller,
    attempts,
    new EndpointFallback(new RetryPolicy(configured, health)),
    circuits,
    configured,
    new YieldQueue(),
  );
  return {
    run(inputs, { time = 60_000, extra = {}, accountId = 'account', members } = {}) {
      const items = Array.from({ length: inputs }, (_value, index) => String(index));
      const request: EmbeddingRequest = {
        model: model.id,
        input: { form: 'texts', items },
        encodingFormat: 'float',
        extra,
      };
      const called = targets.map((target) =>
        members ? { ...target, provider: { ...target.provider, members } } : target,
      );
      return router.run(
        { accountId, model, catalogueVersion: 0, targets: called },
        request,
        performance.now() + time,
      );
    },
    health: (index) => health.of(targets[index]!),
  };
}

/** One vector of the native width. */
export function createAnswer(): ProviderAnswer {
  const vectors = [{ form: 'floats' as const, values: Float32Array.of(1, 0, 0, 0) }];
  return { vectors, promptTokens: 1, totalTokens: 1, upstreamId: null };
}
