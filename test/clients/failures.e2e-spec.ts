// Errors as people read them when a call fails, through real clients with their own defaults: the class, a text with the
// reason, and no wait.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenAIEmbeddings } from '@langchain/openai';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { APICallError, embed } from 'ai';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import OpenAI4 from 'openai4';
import OpenAI5 from 'openai5';
import { createTestApp } from '../support/app/app.js';
import { rejectWith, SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';
import type { StubHandler } from '../support/upstreams/stub-upstream.js';

// Milliseconds. None of these failures waits: a provider's time-out alone is as long.
const LONGEST = 30_000;

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRY_BASE_DELAY_MS: '1' });
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
  readonly status: number;
  readonly openai: new (...given: never[]) => Error;
  readonly sdk: new (...given: never[]) => Error;
  readonly isTooLong?: true;
  /** The SDK repeats any 5xx for up to an hour. */
  readonly isServerError?: true;
}

const CASES: readonly Case[] = [
  {
    name: 'an unknown model',
    status: 404,
    model: 'openai/unknown',
    says: 'openai/unknown',
    calls: 0,
    openai: NotFoundError,
    sdk: errors.NotFoundResponseError,
  },
  {
    name: 'a wrong key',
    status: 401,
    apiKey: async () => 'sk-sb-v1-unknown',
    says: 'Invalid credentials',
    calls: 0,
    openai: AuthenticationError,
    sdk: errors.UnauthorizedResponseError,
  },
  {
    name: 'a key over its limit',
    status: 402,
    apiKey: async () => (await setup.app.createKey({ limit: 0n })).secret,
    says: 'API key limit exceeded',
    calls: 0,
    openai: APIError,
    sdk: errors.PaymentRequiredResponseError,
  },
  {
    name: "a provider's rate limit",
    status: 429,
    answer: rejectWith(429, { error: { message: 'Limit 3 per min.' } }),
    says: 'Provider returned error: Limit 3 per min.',
    calls: 3,
    openai: RateLimitError,
    sdk: errors.TooManyRequestsResponseError,
  },
  {
    name: 'a text that is too long',
    status: 400,
    answer: rejectWith(400, { error: { message: 'maximum context length is 8192 tokens' } }),
    says: 'Provider returned error: maximum context length is 8192 tokens',
    calls: 1,
    openai: BadRequestError,
    sdk: errors.BadRequestResponseError,
    isTooLong: true,
  },
  {
    name: 'a model that is gone',
    status: 502,
    answer: rejectWith(410, { detail: 'reached its end of life' }),
    says: 'Provider returned error: reached its end of life',
    calls: 1,
    openai: InternalServerError,
    sdk: errors.BadGatewayResponseError,
    isServerError: true,
  },
  {
    name: 'an overloaded provider',
    status: 529,
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

  it.each([
    ['4', OpenAI4],
    ['5', OpenAI5],
    ['6', OpenAI],
  ])('reaches openai %s as its class, with the reason, without further calls', async (_version, Client) => {
    setup.upstream.answerWith(one.answer ?? null);
    const client = new Client({ apiKey: await keyOf(), baseURL: setup.app.baseUrl });
    const { error, took } = await outcomeOf(client.embeddings.create(body));
    // Each version has classes of its own, under the same names.
    expect((error as Error).constructor.name).toBe(one.openai.name);
    expect(error).toMatchObject({ status: one.status });
    expect((error as Error).message).toContain(one.says);
    expect(setup.upstream.requests).toHaveLength(one.calls);
    expect(took).toBeLessThan(LONGEST);
  });

  // These two repeat 429 and 5xx by rules of their own, for longer than five seconds.
  const retries = one.status === 429 || one.status >= 500 ? { maxRetries: 0 } : {};

  it('reaches LangChain with its status and the reason', async () => {
    setup.upstream.answerWith(one.answer ?? null);
    const embeddings = new OpenAIEmbeddings({
      apiKey: await keyOf(),
      model: body.model,
      configuration: { baseURL: setup.app.baseUrl },
      ...retries,
    });
    const { error, took } = await outcomeOf(embeddings.embedQuery(body.input));
    // LangChain has a class of its own for a text that is too long, without a status.
    expect((error as Error).message).toMatch(new RegExp(`^${one.status} `));
    expect((error as Error).name === 'ContextOverflowError').toBe(one.isTooLong === true);
    expect((error as Error).message).toContain(one.says);
    expect(setup.upstream.requests).toHaveLength(one.calls);
    expect(took).toBeLessThan(LONGEST);
  });

  it('reaches ai as its class, with its status and the reason', async () => {
    setup.upstream.answerWith(one.answer ?? null);
    const provider = createOpenAICompatible({
      name: 'signalbox',
      apiKey: await keyOf(),
      baseURL: setup.app.baseUrl,
    });
    const call = embed({ model: provider.embeddingModel(body.model), value: body.input, ...retries });
    const { error, took } = await outcomeOf(call);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: one.status });
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
  const impatient = await createTestApp({
    databaseUrl: setup.app.databaseUrl,
    environment: {
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${setup.upstream.origin}/v1`,
      PROVIDER_TIMEOUT_MS: '200',
    },
  });
  try {
    const client = new OpenAI({ apiKey: impatient.apiKey, baseURL: impatient.baseUrl, maxRetries: 0 });
    const { error } = await outcomeOf(client.embeddings.create({ model: SMALL, input: 'a' }));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 524 });
    expect((error as Error).message).toContain('OpenAI did not answer in time');
  } finally {
    await impatient.close();
  }
});
