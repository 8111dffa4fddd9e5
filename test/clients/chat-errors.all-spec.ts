// Every status of POST /chat/completions as real clients show it: the class, the reason in the metadata, and how often they
// ask again (docs/contract.md#errors).
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import OpenAI from 'openai';
import OpenAI4 from 'openai4';
import OpenAI5 from 'openai5';
import { ChatPlanner } from '../../src/routing/chat/chat-planner.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { MODEL, postChat } from '../support/upstreams/chat-upstream.js';
import { modelAt } from '../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../support/chat-providers/every-chat-provider-app.js';
import type { EveryChatProviderApp } from '../support/chat-providers/every-chat-provider-app.js';
import { eventually } from '../support/eventually.js';
import { after } from '../support/chat-providers/stream-script.js';

let setup: EveryChatProviderApp;
/** A replica that takes one chat at a time. */
let busy: TestApp;
/** A replica that does not wait for a provider. */
let hasty: TestApp;
/** A replica whose calls have a short deadline. */
let hurried: TestApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider({ MAX_BODY_BYTES: '5000' });
  const replica = (environment: Readonly<Record<string, string>>) =>
    createTestApp({
      databaseUrl: setup.app.databaseUrl,
      environment: { ...setup.providers.environment, PROVIDER_RETRIES: '0', ...environment },
    });
  busy = await replica({ MAX_CHATS_IN_FLIGHT: '1' });
  hasty = await replica({ CHAT_HEADERS_TIMEOUT_MS: '200', CHAT_ANSWER_TIMEOUT_MS: '1000' });
  hurried = await replica({ CHAT_DEADLINE_MS: '500' });
});
afterEach(() => {
  leaving.abort();
  jest.restoreAllMocks();
  setup.reset();
});
afterAll(async () => {
  await hurried.close();
  await hasty.close();
  await busy.close();
  await setup.close();
});

interface Call {
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly content?: string;
  readonly models?: string[];
  readonly isWhole?: true;
}

interface Case {
  readonly status: number;
  readonly name: string;
  /** Null: the reason is masked. */
  readonly errorType: string | null;
  /** The class of `openai`; its versions have the same names. */
  readonly openai: string;
  readonly sdk: new (...given: never[]) => Error;
  /** Brings the failure about. */
  readonly arrange: () => Partial<Call> | Promise<Partial<Call>>;
}

const replies = (status: number, error: object) => (): Partial<Call> => {
  setup.providers.stubOf('openai').replyWith({ status, body: { error } });
  return {};
};

const ONLY_OPENAI = { provider: { only: ['openai'] } };
/** Models that OpenAI serves. */
const MODELS = [MODEL, 'openai/gpt-4.1-nano', 'openai/gpt-4o', 'openai/gpt-4.1'];
let leaving = new AbortController();

const atHasty = (): Call => ({ model: MODEL, apiKey: hasty.apiKey, baseUrl: hasty.baseUrl });

async function openStreamAtBusy(): Promise<Partial<Call>> {
  setup.providers.stubOf('openai').streamWith(after(2, 'stall'));
  leaving = new AbortController();
  const open = () => postChat(busy, { stream: true, ...ONLY_OPENAI }, { signal: leaving.signal });
  // The stream of the test before holds its permit until its end is seen.
  await eventually(open, ({ status }) => status === 200);
  return { model: MODEL, apiKey: busy.apiKey, baseUrl: busy.baseUrl };
}

const CASES: readonly Case[] = [
  {
    status: 400,
    name: 'a request that the provider refuses',
    errorType: 'invalid_request',
    openai: 'BadRequestError',
    sdk: errors.BadRequestResponseError,
    arrange: replies(400, { message: 'no such thing', code: 'x' }),
  },
  {
    status: 400,
    name: 'content that the provider filters',
    errorType: 'content_policy_violation',
    openai: 'BadRequestError',
    sdk: errors.BadRequestResponseError,
    arrange: replies(400, { message: 'filtered', code: 'content_policy_violation' }),
  },
  {
    status: 401,
    name: 'a wrong key',
    errorType: 'authentication',
    openai: 'AuthenticationError',
    sdk: errors.UnauthorizedResponseError,
    arrange: () => ({ apiKey: 'sk-sb-v1-unknown' }),
  },
  {
    status: 402,
    name: 'a key over its limit',
    errorType: 'payment_required',
    openai: 'APIError',
    sdk: errors.PaymentRequiredResponseError,
    arrange: async () => ({ apiKey: (await setup.app.createKey({ limit: 0n })).secret }),
  },
  {
    status: 403,
    name: 'a workspace over its budget',
    errorType: 'permission_denied',
    openai: 'PermissionDeniedError',
    sdk: errors.ForbiddenResponseError,
    arrange: async () => {
      const { managementKey, apiKey } = await setup.app.createAccount();
      await setup.app.http
        .put('/api/v1/workspaces/default/budgets/lifetime')
        .set('authorization', `Bearer ${managementKey}`)
        .send({ limit_usd: 0.000_001 })
        .expect(200);
      return { apiKey };
    },
  },
  {
    status: 404,
    name: 'an unknown model',
    errorType: 'not_found',
    openai: 'NotFoundError',
    sdk: errors.NotFoundResponseError,
    arrange: () => ({ model: 'openai/nothing' }),
  },
  {
    status: 408,
    name: 'a call beyond its deadline',
    errorType: 'timeout',
    openai: 'APIError',
    sdk: errors.RequestTimeoutResponseError,
    arrange: () => {
      setup.providers.stubOf('openai').holdAnswers();
      return {
        model: MODEL,
        apiKey: hurried.apiKey,
        baseUrl: hurried.baseUrl,
        models: MODELS,
        isWhole: true,
      };
    },
  },
  {
    status: 413,
    name: 'a body above its limit',
    errorType: 'payload_too_large',
    openai: 'APIError',
    sdk: errors.PayloadTooLargeResponseError,
    arrange: () => ({ content: 'x'.repeat(6_000) }),
  },
  {
    status: 429,
    name: 'a provider that limits the rate',
    errorType: 'rate_limit_exceeded',
    openai: 'RateLimitError',
    sdk: errors.TooManyRequestsResponseError,
    arrange: replies(429, { message: 'slow down' }),
  },
  {
    status: 500,
    name: 'a defect of this service',
    errorType: null,
    openai: 'InternalServerError',
    sdk: errors.InternalServerResponseError,
    arrange: () => {
      const planner = setup.app.application.get(ChatPlanner, { strict: false });
      jest.spyOn(planner, 'plan').mockRejectedValue(new Error('a defect'));
      return {};
    },
  },
  {
    status: 502,
    name: 'a provider that fails',
    errorType: 'provider_unavailable',
    openai: 'InternalServerError',
    sdk: errors.BadGatewayResponseError,
    arrange: replies(500, { message: 'broken' }),
  },
  {
    status: 503,
    name: 'a process that has enough to do',
    errorType: 'provider_unavailable',
    openai: 'InternalServerError',
    sdk: errors.ServiceUnavailableResponseError,
    arrange: openStreamAtBusy,
  },
  {
    status: 524,
    name: 'a provider that does not begin to answer',
    errorType: 'timeout',
    openai: 'InternalServerError',
    sdk: errors.EdgeNetworkTimeoutResponseError,
    arrange: () => {
      setup.providers.stubOf('openai').streamWith(after(0, 'stall'));
      return atHasty();
    },
  },
  {
    status: 529,
    name: 'a provider that is overloaded',
    errorType: 'provider_overloaded',
    openai: 'InternalServerError',
    sdk: errors.ProviderOverloadedResponseError,
    arrange: replies(503, { message: 'busy' }),
  },
];

const arranged = async (one: Case): Promise<Call> => ({
  model: modelAt('openai'),
  apiKey: setup.app.apiKey,
  baseUrl: setup.app.baseUrl,
  ...(await one.arrange()),
});

const bodyOf = ({ model, models, content = 'hi', isWhole }: Call) => ({
  model,
  ...(models ? { models } : {}),
  messages: [{ role: 'user' as const, content }],
  stream: isWhole !== true,
  // Models of the catalogue have several providers.
  ...(model.startsWith('in-house/') ? {} : ONLY_OPENAI),
});

const shownBy = ({ status, errorType }: Case) => ({
  code: status,
  ...(errorType === null ? {} : { metadata: { error_type: errorType } }),
});

/** The number of calls that the provider has got. */
const asked = (): number => setup.providers.stubOf('openai').requests.length;

describe.each(CASES.map((one) => [one.status, one.name, one] as const))('%i, %s,', (status, _name, one) => {
  it.each([
    ['4', OpenAI4 as unknown as typeof OpenAI],
    ['5', OpenAI5 as unknown as typeof OpenAI],
    ['6', OpenAI],
  ])('reaches openai %s as its class, with the reason in the metadata', async (_version, Client) => {
    const call = await arranged(one);
    const client = new Client({ apiKey: call.apiKey, baseURL: call.baseUrl, maxRetries: 0 });
    const error: unknown = await client.chat.completions.create(bodyOf(call)).then(
      () => null,
      (failure: unknown) => failure,
    );
    expect((error as Error).constructor.name).toBe(one.openai);
    expect(error).toMatchObject({ status, error: shownBy(one) });
  });

  it('reaches @openrouter/sdk as its class', async () => {
    const call = await arranged(one);
    const client = new OpenRouter({
      apiKey: call.apiKey,
      serverURL: call.baseUrl,
      retryConfig: { strategy: 'none' },
    });
    const error: unknown = await client.chat.send({ chatRequest: bodyOf(call) }).then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(one.sdk);
    const { body } = error as { readonly body: string };
    expect(JSON.parse(body)).toMatchObject({ error: shownBy(one) });
  });
});

describe('a failed call', () => {
  const call = (): Call => ({
    model: modelAt('openai'),
    apiKey: setup.app.apiKey,
    baseUrl: setup.app.baseUrl,
  });
  const openAi = ({ apiKey, baseUrl } = call()) => new OpenAI({ apiKey, baseURL: baseUrl });
  const callsOf = async (ask: () => Promise<unknown>): Promise<number> => {
    const before = asked();
    await expect(ask()).rejects.toThrow();
    return asked() - before;
  };

  it('is repeated by openai when the provider failed', async () => {
    replies(500, { message: 'broken' })();
    expect(await callsOf(async () => openAi().chat.completions.create(bodyOf(call())))).toBe(3);
  });

  it('is not repeated by openai when the request is wrong', async () => {
    replies(400, { message: 'no such thing' })();
    expect(await callsOf(async () => openAi().chat.completions.create(bodyOf(call())))).toBe(1);
  });

  it('is not repeated by openai after a time-out of a whole answer, which the provider bills', async () => {
    setup.providers.stubOf('openai').holdAnswers();
    const whole = { ...atHasty(), isWhole: true } as const;
    expect(await callsOf(async () => openAi(whole).chat.completions.create(bodyOf(whole)))).toBe(1);
  });

  it('is not repeated by @openrouter/sdk after a rate limit', async () => {
    replies(429, { message: 'slow down' })();
    const client = new OpenRouter({ apiKey: setup.app.apiKey, serverURL: setup.app.baseUrl });
    expect(await callsOf(() => client.chat.send({ chatRequest: bodyOf(call()) }))).toBe(1);
  });
});
