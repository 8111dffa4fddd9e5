// Errors as people read them when a call fails, through real clients with their own defaults: the class, a text with the reason, within
// five seconds.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { rejectWith, SMALL, startWithUpstream } from '../support/create-embedding.js';
import type { Setup } from '../support/create-embedding.js';
import type { StubHandler } from '../support/stub-upstream.js';

const LONGEST = 5_000;

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_TIMEOUT_MS: '200', PROVIDER_RETRY_BASE_DELAY_MS: '1' });
});
afterEach(() => {
  setup.app.clock.advance(60_000);
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

interface Case {
  readonly name: string;
  /** The upstream's answer; absent: it is not reached. */
  readonly answer?: StubHandler;
  readonly model?: string;
  readonly apiKey?: () => Promise<string>;
  readonly says: string;
  readonly calls: number;
  readonly openai: new (...given: never[]) => Error;
  readonly sdk: new (...given: never[]) => Error;
  /** The SDK repeats any 5xx for up to an hour. */
  readonly isServerError?: true;
}

const CASES: readonly Case[] = [
  {
    name: 'an unknown model',
    model: 'openai/unknown',
    says: 'openai/unknown',
    calls: 0,
    openai: NotFoundError,
    sdk: errors.NotFoundResponseError,
  },
  {
    name: 'a wrong key',
    apiKey: async () => 'sk-sb-v1-unknown',
    says: 'Invalid credentials',
    calls: 0,
    openai: AuthenticationError,
    sdk: errors.UnauthorizedResponseError,
  },
  {
    name: 'a key over its limit',
    apiKey: async () => (await setup.app.createKey({ limit: 0n })).secret,
    says: 'Insufficient credits',
    calls: 0,
    openai: APIError,
    sdk: errors.PaymentRequiredResponseError,
  },
  {
    name: "a provider's rate limit",
    answer: rejectWith(429, { error: { message: 'Limit 3 per min.' } }),
    says: 'Provider returned error: Limit 3 per min.',
    calls: 3,
    openai: RateLimitError,
    sdk: errors.TooManyRequestsResponseError,
  },
  {
    name: 'a text that is too long',
    answer: rejectWith(400, { error: { message: 'maximum context length is 8192 tokens' } }),
    says: 'Provider returned error: maximum context length is 8192 tokens',
    calls: 1,
    openai: BadRequestError,
    sdk: errors.BadRequestResponseError,
  },
  {
    name: 'a model that is gone',
    answer: rejectWith(410, { detail: 'reached its end of life' }),
    says: 'Provider returned error: reached its end of life',
    calls: 1,
    openai: InternalServerError,
    sdk: errors.BadGatewayResponseError,
    isServerError: true,
  },
  {
    name: 'an overloaded provider',
    answer: rejectWith(503, { error: { message: 'busy' } }),
    says: 'Provider returned error: busy',
    calls: 3,
    openai: InternalServerError,
    sdk: errors.ProviderOverloadedResponseError,
    isServerError: true,
  },
];

async function outcomeOf(call: PromiseLike<unknown>): Promise<{ error: unknown; took: number }> {
  const startedAt = performance.now();
  const error = await call.then(
    () => null,
    (failure: unknown) => failure,
  );
  return { error, took: performance.now() - startedAt };
}

describe.each(CASES.map((one) => [one.name, one] as const))('%s', (_name, one) => {
  const body = { model: one.model ?? SMALL, input: 'a' };
  const keyOf = async (): Promise<string> => (await one.apiKey?.()) ?? setup.app.apiKey;

  it('reaches openai as its class, with the reason, without further calls', async () => {
    setup.upstream.answerWith(one.answer ?? null);
    const client = new OpenAI({ apiKey: await keyOf(), baseURL: setup.app.baseUrl });
    const { error, took } = await outcomeOf(client.embeddings.create(body));
    expect(error).toBeInstanceOf(one.openai);
    expect((error as Error).message).toContain(one.says);
    expect(setup.upstream.requests).toHaveLength(one.calls);
    expect(took).toBeLessThan(LONGEST);
  });

  it('reaches @openrouter/sdk as its class, with the reason', async () => {
    setup.upstream.answerWith(one.answer ?? null);
    const client = new OpenRouter({
      apiKey: await keyOf(),
      serverURL: setup.app.baseUrl,
      ...(one.isServerError ? { retryConfig: { strategy: 'none' as const } } : {}),
    });
    const { error, took } = await outcomeOf(client.embeddings.generate({ requestBody: body }));
    expect(error).toBeInstanceOf(one.sdk);
    expect((error as Error).message).toContain(one.says);
    expect(setup.upstream.requests).toHaveLength(one.calls);
    expect(took).toBeLessThan(LONGEST);
  });
});

it('a provider that does not answer is a time-out with the name of the provider', async () => {
  setup.upstream.answerWith(() => undefined);
  const client = new OpenAI({ apiKey: setup.app.apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });
  const { error, took } = await outcomeOf(client.embeddings.create({ model: SMALL, input: 'a' }));
  expect(error).toBeInstanceOf(InternalServerError);
  expect(error).toMatchObject({ status: 524 });
  expect((error as Error).message).toContain('OpenAI did not answer in time');
  expect(took).toBeLessThan(LONGEST);
});
