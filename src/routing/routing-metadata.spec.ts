// Routing metadata of a call: whether the first endpoint was enough.
import { describe, expect, it } from '@jest/globals';
import { createEndpoint, createModel, createOwnCredential } from '../../test/support/routing/endpoints.js';
import { AppError } from '../domain/errors.js';
import type { GenerationAttempt } from '../domain/generations/generation.js';
import { local } from '../providers/local.js';
import type { RoutedCall, ServedSlice } from './routed-call.js';
import { endpointName } from './endpoint-target.js';
import type { EndpointTarget, OwnCredential } from './endpoint-target.js';
import { describeRouting } from './routing-metadata.js';

const model = createModel([createEndpoint({ provider: 'one' }), createEndpoint({ provider: 'two' })]);
const [one, two] = model.endpoints.map((endpoint): EndpointTarget => ({
  model,
  endpoint,
  provider: { ...local, slug: endpoint.provider, name: `Provider ${endpoint.provider}` },
  credential: null,
})) as [EndpointTarget, EndpointTarget];
const own = (target: EndpointTarget, overrides: Partial<OwnCredential> = {}): EndpointTarget => ({
  ...target,
  credential: createOwnCredential(0, overrides),
});

const slice = (target: EndpointTarget, start = 0): ServedSlice => ({
  start,
  input: { form: 'texts', items: ['a'] },
  target,
  vectors: [],
  promptTokens: 1,
  totalTokens: 1,
  upstreamId: null,
});
const attempt = (target: EndpointTarget, status: number): GenerationAttempt => ({
  provider: target.provider.slug,
  endpoint: endpointName(target),
  status,
  errorType: status === 200 ? null : 'failed',
  durationMs: 1,
});
const describeCall = (targets: readonly EndpointTarget[], routed: Partial<RoutedCall>) =>
  describeRouting(model.id, {
    route: { targets },
    routed: { served: [], wasted: [], attempts: [], passedOver: [], error: null, ...routed },
    durationMs: 5,
  });

it('the edits name a dropped member once, for any number of slices', () => {
  const dropped = (start: number): ServedSlice => ({ ...slice(one, start), droppedMembers: ['priority'] });
  expect(describeCall([one], { served: [dropped(0), dropped(1)] }).edits).toEqual(['priority']);
});

describe('the strategy', () => {
  it.each([
    ['direct', 'the first served', [one, two], [slice(one)], [attempt(one, 200)]],
    ['direct', 'the first served after a retry', [one], [slice(one)], [attempt(one, 503), attempt(one, 200)]],
    ['direct', 'the only one failed', [one], [], [attempt(one, 500)]],
    ['direct', 'no provider was called', [one, two], [], []],
    ['fallback', 'the second served', [one, two], [slice(two)], [attempt(one, 503), attempt(two, 200)]],
    [
      'fallback',
      'the second served a part',
      [one, two],
      [slice(one), slice(two, 1)],
      [attempt(one, 200), attempt(one, 429), attempt(two, 200)],
    ],
    [
      'fallback',
      "the operator's key served instead of an own one",
      [own(one), one],
      [slice(one)],
      [attempt(one, 401), attempt(one, 200)],
    ],
    ['fallback', 'all failed', [one, two], [], [attempt(one, 500), attempt(two, 500)]],
  ] satisfies [string, string, EndpointTarget[], ServedSlice[], GenerationAttempt[]][])(
    'is %s if %s',
    (strategy, _when, targets, served, attempts) => {
      const error = served.length === 0 && attempts.length > 0 ? new AppError('provider_error') : null;
      expect(describeCall(targets, { served, attempts, error })).toMatchObject({
        strategy,
        attempt: attempts.length,
      });
    },
  );
});

it('lists every endpoint once with the served ones marked, and every attempt', () => {
  const metadata = describeCall([own(one), one, two], {
    served: [slice(two)],
    attempts: [attempt(one, 401), attempt(one, 503), attempt(two, 200)],
  });
  expect(metadata).toEqual({
    requested: model.id,
    passedOver: [],
    hits: [],
    edits: [],
    strategy: 'fallback',
    summary: 'available=2, attempts=3, selected=Provider two',
    attempt: 3,
    isByok: false,
    endpoints: [
      { provider: 'Provider one', model: model.id, selected: false },
      { provider: 'Provider two', model: model.id, selected: true },
    ],
    attempts: [
      { provider: 'Provider one', model: model.id, status: 401 },
      { provider: 'Provider one', model: model.id, status: 503 },
      { provider: 'Provider two', model: model.id, status: 200 },
    ],
    generationTime: 5,
  });
});
