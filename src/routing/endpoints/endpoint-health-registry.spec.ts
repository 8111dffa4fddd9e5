// Whose failures count against whom.
import { describe, expect, it } from '@jest/globals';
import {
  createEndpoint,
  createOwnCredential,
  createTarget,
} from '../../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { endpointName } from '../endpoint-target.js';
import type { EndpointTarget, OwnCredential } from '../endpoint-target.js';
import { EndpointHealthRegistry } from './endpoint-health-registry.js';

const target = (endpoint: Partial<ModelEndpoint>): EndpointTarget =>
  createTarget(createEndpoint({ provider: 'deepinfra', upstreamModel: 'BAAI/bge-m3', ...endpoint }));

describe('the health of an endpoint', () => {
  const base = target({});
  const turbo = target({ tag: 'deepinfra/turbo' });

  it.each([
    ['another tag of the same upstream model', turbo],
    ['another upstream model', target({ upstreamModel: 'BAAI/bge-large-en-v1.5' })],
    ['another provider', target({ provider: 'together' })],
    ['an own key', { ...base, credential: createOwnCredential(0) }],
  ])('is not that of %s', (_name, other) => {
    const registry = new EndpointHealthRegistry();
    const now = 1_000_000;
    for (let failure = 0; failure < 10; failure++) registry.of(other).recordFailure(now);
    expect(registry.of(other).isOpen(now)).toBe(true);
    expect(registry.of(base).isOpen(now)).toBe(false);
  });

  it('is kept from call to call', () => {
    const registry = new EndpointHealthRegistry();
    expect(registry.of(target({}))).toBe(registry.of(base));
    expect(registry.of({ ...turbo, credential: createOwnCredential(3) })).toBe(
      registry.of({ ...turbo, credential: createOwnCredential(3) }),
    );
  });
});

it('own keys share the places of an endpoint among themselves, apart from the shared endpoint', () => {
  const registry = new EndpointHealthRegistry();
  const permitsOf = (credential: OwnCredential | null) => registry.of({ ...target({}), credential }).permits;
  expect(permitsOf(createOwnCredential(0))).toBe(permitsOf(createOwnCredential(1)));
  expect(permitsOf(createOwnCredential(0))).not.toBe(permitsOf(null));
});

it('the name of an endpoint holds its tag', () => {
  expect(endpointName(target({}))).toBe('deepinfra/BAAI/bge-m3');
  expect(endpointName(target({ tag: 'deepinfra/turbo' }))).toBe('deepinfra/turbo/BAAI/bge-m3');
});
