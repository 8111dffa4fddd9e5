// The attempts of a chat call, over endpoints that do what a spec says.
import { describe, expect, it } from '@jest/globals';
import { TestClock } from '../../../test/support/app/clock.js';
import { pricedEndpoint } from '../../../test/support/chat/charges.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { AppConfig } from '../../config/app-config.js';
import { Tracing } from '../../config/tracing/tracing.js';
import type { AppError } from '../../domain/errors.js';
import { local } from '../../providers/local.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import { EndpointAttempts } from '../fallback/endpoint-attempts.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { ChatTarget } from '../endpoint-target.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { EndpointFallback } from '../fallback/endpoint-fallback.js';
import { RetryPolicy } from '../fallback/retry-policy.js';
import type { AttemptingCall } from '../routed-call.js';
import type { RoutingMetrics } from '../routing-metrics.js';
import { ChatRouter } from './chat-router.js';
import type { BegunAnswer } from './chat-router.js';

const ANSWER: BegunAnswer = { status: 200, ending: null };
const MODEL = { id: 'a/model' };
const target = (slug: string, model = MODEL) =>
  ({
    model,
    endpoint: pricedEndpoint({ provider: slug, upstreamModel: 'model' }),
    provider: { ...local, slug, name: slug },
    credential: null,
  }) as unknown as ChatTarget;

/** `deeds`: of the attempts in their order; null: the endpoint answers. */
async function route(targets: readonly ChatTarget[], deeds: readonly (EndpointFailure | null)[]) {
  const config = { providerRetries: 1, retryBaseDelay: 0, chat: { endpointConcurrency: 1 } };
  const configured = config as unknown as AppConfig;
  const silent: Partial<RoutingMetrics> = { attempted: () => undefined, waits: () => () => undefined };
  const metrics = silent as RoutingMetrics;
  const health = new EndpointHealthRegistry();
  const tracing = new Tracing(null);
  const attempts = new EndpointAttempts(health, configured, metrics, tracing);
  const circuits = new CredentialCircuits(new TestClock(), metrics);
  const fallback = new EndpointFallback(new RetryPolicy(configured, health));
  const router = new ChatRouter(attempts, fallback, health, circuits, configured, tracing);
  const call: AttemptingCall = {
    owner: { accountId: 'account' },
    deadline: performance.now() + 60_000,
    ending: new Cancellation(),
    attempts: [],
  };
  const tried: string[] = [];
  const routed = await router.run(
    { accountId: 'account', catalogueVersion: 0, preset: null, targets, conversation: null, reasoning: null },
    call,
    ({ provider }) => {
      const deed = deeds[tried.length] ?? null;
      tried.push(provider.slug);
      return deed ? Promise.reject(deed) : Promise.resolve(ANSWER);
    },
  );
  return { routed, tried, call, router, health };
}

const failed = (status: number) => new EndpointFailure('failed', status, 'broken');
const codeOf = (error: AppError | null) => error?.code ?? null;

describe('a chat call', () => {
  const [one, two] = [target('one'), target('two')];

  it('is served by the next endpoint after a failure', async () => {
    const { routed, tried, call, health } = await route([one, two], [failed(500)]);
    expect(tried).toEqual(['one', 'two']);
    expect(routed).toMatchObject({ begun: { target: two }, error: null });
    expect(call.attempts).toMatchObject([
      { provider: 'one', status: 500, errorType: 'failed' },
      { provider: 'two', status: 200, errorType: null },
    ]);
    expect(health.of(one).lastFailure).toMatchObject({ failureClass: 'failed', status: 500 });
    expect(health.of(two).lastFailure).toBeNull();
  });

  it('fails with the reason of the endpoints that were tried when one of them had no free permit before', async () => {
    const tooLong = () => new EndpointFailure('context_length', 400, 'too long');
    const { routed, tried } = await route(
      [one, two],
      [new EndpointFailure('saturated', null, 'busy'), tooLong(), tooLong()],
    );
    expect(tried).toEqual(['one', 'two', 'one']);
    expect(codeOf(routed.error)).toBe('provider_context_length');
  });

  it('ends at a refusal of the request', async () => {
    const { routed, tried } = await route(
      [one, two],
      [new EndpointFailure('refused', 400, 'no such member')],
    );
    expect(tried).toEqual(['one']);
    expect(routed.begun).toBeNull();
    expect(codeOf(routed.error)).toBe('provider_refused');
  });

  it('moves to the next model, and to no other endpoint, when a policy of the first refuses its content', async () => {
    const other = target('three', { id: 'a/other' });
    const refusal = new EndpointFailure('refused', 400, 'no', { code: 'content_filter' });
    const { tried } = await route([one, two, other], [refusal]);
    expect(tried).toEqual(['one', 'three']);
  });

  it('repeats at the last endpoint alone, and asks the client not to repeat', async () => {
    const overloaded = () => new EndpointFailure('overloaded', 503, 'busy');
    const { routed, tried } = await route([one, two], [overloaded(), overloaded(), overloaded()]);
    expect(tried).toEqual(['one', 'two', 'two']);
    expect(routed.error?.headers).toMatchObject({ 'x-should-retry': 'false' });
  });

  it('is tried once more after a time-out of this service, and no further', async () => {
    const timeout = () => new EndpointFailure('own_timeout', null, 'no answer in time');
    const { routed, tried } = await route([one, two, target('three')], [timeout(), timeout(), null]);
    expect(tried).toEqual(['one', 'two']);
    expect(routed.error).toMatchObject({
      code: 'provider_timeout',
      headers: { 'x-should-retry': 'false' },
    });
  });

  it('is never sent again after a failure that the provider may bill', async () => {
    const { tried } = await route([one], [new EndpointFailure('failed', null, 'ECONNRESET')]);
    expect(tried).toEqual(['one']);
  });

  it('holds the permit of its endpoint until its answer has ended', async () => {
    const { routed, call, router, health } = await route([one], []);
    const { permits } = health.of(one);
    const owner = { accountId: 'another' };
    expect(permits.tryAcquire(1, owner)).toBeNull();
    router.ended(routed.begun!, call, 'completed', 1);
    expect(permits.tryAcquire(1, owner)).not.toBeNull();
  });
});
