// Every class of failures at every provider, in that provider's own form of errors: status, error type, calls, the next
// endpoint, circuits, and who pays.
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ModelEndpoint } from '../../src/catalogue/catalogue-model.js';
import { YieldQueue } from '../../src/concurrency/yield-queue.js';
import type { AppConfig } from '../../src/config/app-config.js';
import { Tracing } from '../../src/config/tracing/tracing.js';
import type { EmbeddingRequest } from '../../src/domain/embeddings/embedding.js';
import { chargeFor } from '../../src/embeddings/charges/call-cost.js';
import { HttpClient } from '../../src/outbound/http-client.js';
import { CredentialCircuits } from '../../src/routing/credentials/credential-circuits.js';
import { EmbeddingRouter } from '../../src/routing/embeddings/embedding-router.js';
import { EndpointAttempts } from '../../src/routing/fallback/endpoint-attempts.js';
import { EndpointCaller } from '../../src/routing/endpoints/endpoint-caller.js';
import { EndpointHealthRegistry } from '../../src/routing/endpoints/endpoint-health-registry.js';
import type { EndpointTarget } from '../../src/routing/endpoint-target.js';
import { EndpointFallback } from '../../src/routing/fallback/endpoint-fallback.js';
import { RetryPolicy } from '../../src/routing/fallback/retry-policy.js';
import type { RoutingMetrics } from '../../src/routing/routing-metrics.js';
import { TestClock } from '../support/app/clock.js';
import { createEndpoint, createModel } from '../support/routing/endpoints.js';
import { httpProvider } from '../support/providers/drive.js';
import { errorOf } from '../support/providers/error-forms.js';
import type { StubError } from '../support/providers/error-forms.js';
import { PROVIDER_STUBS } from '../support/providers/index.js';
import type { ProviderStub, RunningProviderStub, StubReply } from '../support/providers/provider-stub.js';

const DAY = '2026-11-27';
const CIRCUITS = { none: [null, 0], endpoint: [0, 0], credential: [null, 5] } as const;

interface Row {
  readonly name: string;
  readonly status: number;
  readonly error?: StubError;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of an error. */
  readonly body?: unknown;
  /** The caller's. */
  readonly answered: readonly [status: number, errorType: string];
  /** At the endpoint when it is the last. */
  readonly calls: number;
  readonly next?: false;
  /** Uptime of the endpoint (null: no failure counts against it) and seconds of rest of its credential. */
  readonly circuit: keyof typeof CIRCUITS;
  readonly says?: string;
}

const bad = [502, 'provider_unavailable'] as const;
const fault = (status: number): Row => ({
  name: `${status}`,
  status,
  error: { message: 'reached its end of life' },
  answered: bad,
  calls: 1,
  circuit: 'endpoint',
});

const ROWS: readonly Row[] = [
  ...[404, 409, 410, 423, 425, 426, 451].map(fault),
  {
    name: 'an unknown model in a 400',
    status: 400,
    error: { message: 'Model m is not supported.' },
    answered: bad,
    calls: 1,
    circuit: 'none',
  },
  {
    name: 'an unknown model by its code',
    status: 400,
    error: { message: 'No.', code: 'model_not_found' },
    answered: bad,
    calls: 1,
    circuit: 'endpoint',
  },
  {
    name: 'a wrong request',
    status: 400,
    error: { message: 'That is not right.' },
    answered: [400, 'invalid_request'],
    calls: 1,
    next: false,
    circuit: 'none',
  },
  {
    name: 'a wrong request (422)',
    status: 422,
    error: { message: 'That is not right.' },
    answered: [400, 'invalid_request'],
    calls: 1,
    next: false,
    circuit: 'none',
  },
  ...[400, 413, 422, 500].map((status): Row => ({
    name: `a context that is too long (${status})`,
    status,
    error: { message: 'inputs must have less than 512 tokens. Given: 1038' },
    answered: [400, 'context_length_exceeded'],
    calls: 1,
    circuit: 'none',
  })),
  {
    name: 'a body that is too large',
    status: 413,
    error: { message: 'Too large.' },
    answered: [413, 'payload_too_large'],
    calls: 1,
    circuit: 'none',
  },
  {
    name: 'a refused credential',
    status: 401,
    error: { message: 'canary' },
    answered: bad,
    calls: 1,
    circuit: 'credential',
    says: "refused the operator's credential",
  },
  {
    name: 'no money',
    status: 402,
    error: { message: 'canary' },
    answered: bad,
    calls: 1,
    circuit: 'credential',
    says: "refused the operator's credential",
  },
  {
    name: 'no permission',
    status: 403,
    error: { message: 'canary' },
    answered: bad,
    calls: 1,
    circuit: 'credential',
    says: "refused the operator's credential",
  },
  {
    name: 'a used-up account in a 429',
    status: 429,
    error: { message: 'canary', code: 'insufficient_quota' },
    answered: bad,
    calls: 1,
    circuit: 'credential',
    says: "refused the operator's credential",
  },
  {
    name: 'a rate limit',
    status: 429,
    error: { message: 'Slow.' },
    headers: { 'retry-after': '0.01' },
    answered: [429, 'rate_limit_exceeded'],
    calls: 3,
    circuit: 'endpoint',
  },
  {
    name: 'a rate limit that lasts',
    status: 429,
    error: { message: 'Slow.' },
    headers: { 'retry-after': '3600' },
    answered: [429, 'rate_limit_exceeded'],
    calls: 1,
    circuit: 'endpoint',
  },
  ...[503, 529].map((status): Row => ({
    name: `overload (${status})`,
    status,
    error: { message: 'Busy.' },
    answered: [529, 'provider_overloaded'],
    calls: 3,
    circuit: 'endpoint',
  })),
  ...[408, 504, 524].map((status): Row => ({
    name: `a time-out (${status})`,
    status,
    error: { message: 'Slow.' },
    answered: [524, 'timeout'],
    calls: 1,
    circuit: 'endpoint',
    says: 'did not answer in time',
  })),
  ...[500, 502, 520].map((status): Row => ({
    name: `a failure (${status})`,
    status,
    error: { message: 'Oops.' },
    answered: bad,
    calls: 3,
    circuit: 'endpoint',
  })),
  {
    name: 'an input that breaks the model',
    status: 500,
    error: { message: 'json: unsupported value: NaN' },
    answered: bad,
    calls: 1,
    circuit: 'none',
  },
  ...[302, 307, 405].map((status): Row => ({
    name: `a wrong address (${status})`,
    status,
    error: { message: 'Not here.' },
    headers: { location: 'http://10.0.0.1/canary' },
    answered: bad,
    calls: 1,
    circuit: 'endpoint',
    says: '_BASE_URL',
  })),
  {
    name: 'a rate limit inside a success',
    status: 200,
    error: { message: 'Slow.', stated: 429 },
    answered: [429, 'rate_limit_exceeded'],
    calls: 3,
    circuit: 'endpoint',
  },
  {
    name: 'a refusal inside a success',
    status: 200,
    error: { message: 'Not right.', stated: 400 },
    answered: [400, 'invalid_request'],
    calls: 1,
    next: false,
    circuit: 'none',
  },
  {
    name: 'a refused credential inside a success',
    status: 200,
    error: { message: 'canary', stated: 401 },
    answered: bad,
    calls: 1,
    circuit: 'credential',
    says: 'refused',
  },
  {
    name: 'a page of a proxy',
    status: 502,
    body: '<html><title>502 Bad Gateway</title></html>',
    answered: bad,
    calls: 3,
    circuit: 'endpoint',
    says: '502 Bad Gateway',
  },
  {
    name: 'a success without vectors',
    status: 200,
    body: {},
    answered: bad,
    calls: 2,
    circuit: 'endpoint',
    says: 'the answer',
  },
  {
    name: 'a success that is cut',
    status: 200,
    body: '{"data":[{"index":0,"embedding":[1,',
    answered: bad,
    calls: 2,
    circuit: 'endpoint',
  },
];

beforeAll(() => void jest.spyOn(Logger.prototype, 'warn').mockReturnValue());

describe.each(PROVIDER_STUBS.map((stub) => [stub.slug, stub] as const))('%s', (slug, stub: ProviderStub) => {
  const http = new HttpClient();
  let running: RunningProviderStub;
  let other: RunningProviderStub;
  beforeAll(async () => {
    running = await stub.start();
    other = await stub.start();
  });
  beforeEach(() => {
    running.replyWith(null);
    (running.requests as unknown[]).length = 0;
    (other.requests as unknown[]).length = 0;
  });
  afterAll(async () => {
    await running.close();
    await other.close();
    await http.onApplicationShutdown();
  });

  const prices = [{ effectiveFrom: '2026-01-01', perToken: 1_000_000n, source: 'test' }];
  const terms = { inputForms: ['texts'], takesDimensions: false, maxInputsPerCall: 1, prices } as const;
  const endpoint: ModelEndpoint = createEndpoint({ provider: slug, upstreamModel: stub.models[0], ...terms });
  const nextEndpoint = { ...endpoint, tag: 'next' };
  const model = { ...createModel([endpoint, nextEndpoint]), nativeDimensions: stub.nativeWidth };
  const target: EndpointTarget = { model, endpoint, provider: httpProvider(slug), credential: null };
  // The same wire at another address.
  const next = { ...httpProvider(slug), slug: 'next' };
  const nextTarget: EndpointTarget = { model, endpoint: nextEndpoint, provider: next, credential: null };

  /** One call of one text through `targets`. */
  async function route(targets: readonly EndpointTarget[]) {
    const health = new EndpointHealthRegistry();
    const config = {
      providerTimeout: 5_000,
      providerRetries: 2,
      retryBaseDelay: 0,
      endpointConcurrency: 10,
      providers: new Map([
        [slug, { baseUrl: running.baseUrl, apiKey: stub.apiKey }],
        ['next', { baseUrl: other.baseUrl, apiKey: stub.apiKey }],
      ]),
    } as Partial<AppConfig> as AppConfig;
    const metrics = {
      attempted: () => undefined,
      credentialRejected: () => undefined,
    } as Partial<RoutingMetrics> as RoutingMetrics;
    const yieldQueue = new YieldQueue();
    const clock = new TestClock();
    const circuits = new CredentialCircuits(clock, metrics);
    const caller = new EndpointCaller(http, config, clock, yieldQueue);
    const attempts = new EndpointAttempts(health, config, metrics, new Tracing(null));
    const router = new EmbeddingRouter(
      caller,
      attempts,
      new EndpointFallback(new RetryPolicy(config, health)),
      circuits,
      config,
      yieldQueue,
    );
    const request: EmbeddingRequest = {
      model: model.id,
      input: { form: 'texts', items: ['one text'] },
      encodingFormat: 'float',
      extra: {},
    };
    const routed = await router.run(
      { accountId: 'a', model, catalogueVersion: 0, targets },
      request,
      performance.now() + 20_000,
    );
    const charge = await chargeFor(routed, request, DAY, null);
    const uptime = health.of(target).uptime(performance.now());
    return { routed, charge, circuit: [uptime, circuits.restOf(target, 'a')] };
  }

  const replyOf = ({ status, error, headers, body }: Row): StubReply => {
    const reply = error ? errorOf(slug, status, error) : { status, body };
    return { ...reply, headers: { ...reply.headers, ...headers } };
  };

  it.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    running.replyWith(replyOf(row));
    const { routed, charge, circuit } = await route([target]);
    const { error } = routed;
    expect({ answered: [error?.status, error?.errorType], calls: running.requests.length, circuit }).toEqual({
      answered: [...row.answered],
      calls: row.calls,
      circuit: [...CIRCUITS[row.circuit]],
    });
    expect(error?.message).toContain(row.says ?? row.error?.message ?? '');
    expect(JSON.stringify([error?.message, error?.metadata])).not.toMatch(/canary|127\.0\.0\.1/);
    expect(error?.metadata['provider_name']).toBe(target.provider.name);
    expect(charge.cost).toBe(0n);
    // The next endpoint is tried after one call, unless the request itself is wrong.
    (running.requests as unknown[]).length = 0;
    const { routed: second } = await route([target, nextTarget]);
    const isServed = row.next !== false;
    expect([running.requests.length, other.requests.length, second.error === null]).toEqual([
      1,
      isServed ? 1 : 0,
      isServed,
    ]);
  });

  it('a broken answer once: one more call, and one answer is paid', async () => {
    let isFirst = true;
    running.alterReplies((reply) => {
      const [wasFirst] = [isFirst, (isFirst = false)];
      return wasFirst ? { ...reply, body: withoutVectors(reply.body) } : reply;
    });
    const { routed, charge } = await route([target]);
    running.alterReplies(null);
    expect(routed.error).toBeNull();
    expect(running.requests).toHaveLength(2);
    // Two stubs report no usage: what is not reported is not billed twice.
    const cost = charge.cost ?? 0n;
    expect(cost).toBeGreaterThan(0n);
    expect(charge.upstreamCost).toBe(routed.wasted.length === 0 ? cost : 2n * cost);
    if (!['together', 'google'].includes(slug)) expect(routed.wasted).toHaveLength(1);
  });
});

/** The answer with its usage, and null instead of each vector. */
function withoutVectors(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(() => null);
  const { data, embeddings, embedding, ...others } = body as Readonly<Record<string, unknown>>;
  return {
    ...(data === undefined ? {} : { data: [{ index: 0, embedding: null }] }),
    ...(embeddings === undefined ? {} : { embeddings: [null] }),
    ...(embedding === undefined ? {} : { embedding: null }),
    ...others,
  };
}
