// The real client @openrouter/sdk against the listening service: it silently drops members that it cannot parse.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { parseUsd } from '../../src/domain/spend/money.js';
import { LOCAL, rejectWith, SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';
import { patternVector, toBase64 } from '../support/upstreams/stub-upstream.js';

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ RATE_LIMIT_MANAGEMENT_PER_MINUTE: '100' });
});
afterEach(() => setup.upstream.answerWith(null));
afterAll(() => setup.close());

const clientWith = (apiKey: string | undefined): OpenRouter =>
  new OpenRouter({
    serverURL: setup.app.baseUrl,
    // The client's own retries would repeat a 5xx for up to an hour.
    retryConfig: { strategy: 'none' },
    ...(apiKey === undefined ? {} : { apiKey }),
  });
const management = (): OpenRouter => clientWith(setup.app.managementKey);
const inference = (): OpenRouter => clientWith(setup.app.apiKey);

async function failureOf(call: Promise<unknown>): Promise<errors.OpenRouterError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(errors.OpenRouterError);
  return outcome as errors.OpenRouterError;
}

describe('destinations', () => {
  it.each(DESTINATION_KINDS)('of type $type are created and recognised', async ({ type, example }) => {
    const { data } = await management().observability.create({
      createObservabilityDestinationRequest: {
        type: type as 'webhook',
        name: `Traces to ${type}`,
        config: { ...example, headers: { 'X-Team': 'platform-engineering' } },
      },
    });
    expect(data).not.toHaveProperty('isUnknown');
    expect(data).toMatchObject({
      type,
      name: `Traces to ${type}`,
      workspaceId: setup.app.workspaceId,
      enabled: true,
      privacyMode: false,
      samplingRate: 1,
      apiKeyHashes: null,
      filterRules: null,
      regions: ['global'],
      config: { headers: { 'X-Team': 'plat...ring' } },
    });
    expect(Object.keys(data)).toEqual(
      expect.arrayContaining(['id', 'createdAt', 'updatedAt', 'broadcastGenerationCost']),
    );
  });

  it('keep every requested option', async () => {
    const { data } = await management().observability.create({
      createObservabilityDestinationRequest: {
        type: 'otel-collector',
        name: 'Everything',
        config: { endpoint: 'https://collector.test/v1/traces' },
        enabled: false,
        privacyMode: true,
        broadcastGenerationCost: true,
        broadcastGenerationIdentity: true,
        broadcastGenerationRequestContext: true,
        samplingRate: 0.25,
        apiKeyHashes: [setup.app.key.hash],
        filterRules: {
          groups: [
            {
              logic: 'or',
              rules: [
                { field: 'model', operator: 'contains', value: 'embedding' },
                { field: 'total_cost', operator: 'gt', value: 0.5 },
                { field: 'user_id', operator: 'exists' },
              ],
            },
          ],
        },
        regions: ['eu'],
        workspaceId: setup.app.workspaceId,
      },
    });
    expect(data).toMatchObject({
      type: 'otel-collector',
      enabled: false,
      privacyMode: true,
      broadcastGenerationCost: true,
      broadcastGenerationIdentity: true,
      broadcastGenerationRequestContext: true,
      samplingRate: 0.25,
      apiKeyHashes: [setup.app.key.hash],
      filterRules: {
        enabled: true,
        groups: [
          {
            logic: 'or',
            rules: [
              { field: 'model', operator: 'contains', value: 'embedding' },
              { field: 'total_cost', operator: 'gt', value: 0.5 },
              { field: 'user_id', operator: 'exists' },
            ],
          },
        ],
      },
      regions: ['europe'],
    });
  });

  it.each([
    [400, errors.BadRequestResponseError, { type: 'webhook', config: {} }],
    [400, errors.BadRequestResponseError, { type: 'pigeon', config: {} }],
  ])('return %d when they are invalid', async (statusCode, expected, members) => {
    const failure = await failureOf(
      management().observability.create({
        createObservabilityDestinationRequest: { name: 'n', ...members } as never,
      }),
    );
    expect(failure).toBeInstanceOf(expected);
    expect(failure).toMatchObject({ statusCode, error: { code: statusCode, message: expect.any(String) } });
  });

  it('return 409 beyond the fifth, and 403 without a management key', async () => {
    const create = (client: OpenRouter) =>
      client.observability.create({
        createObservabilityDestinationRequest: {
          type: 'langfuse',
          name: 'n',
          config: { secretKey: 'sk-lf-123456789', publicKey: 'pk-lf-123456789' },
        },
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => create(management())));
    const failures = outcomes.flatMap((outcome): unknown[] =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toBeInstanceOf(errors.ConflictResponseError);
    expect(await failureOf(create(inference()))).toBeInstanceOf(errors.ForbiddenResponseError);
  });
});

describe('keys', () => {
  it('are parsed with all their members', async () => {
    const { record } = await setup.app.createKey({
      limit: parseUsd('12.5'),
      limitReset: 'monthly',
      expiresAt: new Date('2027-01-01T00:00:00Z'),
      creatorUserId: 'user-1',
    });
    const { data } = await management().apiKeys.get({ hash: record.hash });
    expect(data).toMatchObject({
      hash: record.hash,
      name: 'Test key',
      label: expect.stringMatching(/^sk-sb-v1-[0-9a-f]{3}\.\.\.[0-9a-f]{4}$/),
      disabled: false,
      limit: 12.5,
      limitRemaining: 12.5,
      limitReset: 'monthly',
      includeByokInLimit: false,
      usage: 0,
      usageDaily: 0,
      byokUsage: 0,
      expiresAt: new Date('2027-01-01T00:00:00Z'),
      creatorUserId: 'user-1',
      workspaceId: setup.app.workspaceId,
      externalUser: null,
    });
  });

  it('are parsed without limit, expiry and creator', async () => {
    const { data } = await management().apiKeys.get({ hash: setup.app.key.hash });
    expect(data).toMatchObject({ limit: null, limitRemaining: null, limitReset: null, creatorUserId: null });
  });

  it('return 404 when they are unknown', async () => {
    const failure = await failureOf(management().apiKeys.get({ hash: 'f01d' }));
    expect(failure).toBeInstanceOf(errors.NotFoundResponseError);
  });
});

describe('embeddings', () => {
  it.each([undefined, 'float', 'base64'] as const)('in the format %s are parsed', async (encodingFormat) => {
    const answer = await inference().embeddings.generate({
      requestBody: {
        model: SMALL,
        input: ['a', 'b'],
        dimensions: 3,
        user: 'user-1',
        sessionId: 'session-1',
        trace: { traceId: 't-1' },
        provider: { allowFallbacks: true },
        ...(encodingFormat === undefined ? {} : { encodingFormat }),
      },
    });
    const expected = [0, 1].map((position) => patternVector(position, 3));
    expect(answer).toMatchObject({
      object: 'list',
      model: SMALL,
      id: expect.stringMatching(/^embd-/),
      data: expected.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: encodingFormat === 'base64' ? toBase64(vector) : vector,
      })),
      usage: { promptTokens: 10, totalTokens: 10, cost: 2e-7, isByok: false },
    });
  });

  it.each([
    ['a text', 'one', 1],
    ['texts', ['one', 'two'], 2],
    ['tokens', [1, 2, 3], 1],
    ['arrays of tokens', [[1, 2], [3]], 2],
    ['multimodal items', [{ content: [{ type: 'text' as const, text: 'one' }] }], 1],
  ])('of %s are parsed', async (_name, input, expected) => {
    const answer = await inference().embeddings.generate({ requestBody: { model: LOCAL, input } });
    expect(answer).toMatchObject({ data: expect.any(Array) });
    expect((answer as { data: unknown[] }).data).toHaveLength(expected);
  });
});

describe('errors of embeddings', () => {
  const ask = (client: OpenRouter, members: object = {}) =>
    failureOf(client.embeddings.generate({ requestBody: { model: SMALL, input: 'a', ...members } }));

  it.each([
    [400, errors.BadRequestResponseError, { model: 'small' }],
    [404, errors.NotFoundResponseError, { model: 'openai/unknown' }],
  ])('have their own type for %d', async (statusCode, expected, members) => {
    const failure = await ask(inference(), members);
    expect(failure).toBeInstanceOf(expected);
    expect(failure).toMatchObject({ statusCode, error: { code: statusCode, message: expect.any(String) } });
  });

  it.each([
    ['no key', undefined, 'Missing Authentication header'],
    ['an unknown key', 'sk-sb-v1-unknown', 'Invalid credentials'],
  ])('have their own type for 401: %s', async (_name, apiKey, message) => {
    const failure = await ask(clientWith(apiKey));
    expect(failure).toBeInstanceOf(errors.UnauthorizedResponseError);
    expect(failure).toMatchObject({ statusCode: 401, error: { code: 401, message } });
  });

  it('have their own type for 402', async () => {
    const { secret } = await setup.app.createKey({ limit: 0n });
    expect(await ask(clientWith(secret))).toBeInstanceOf(errors.PaymentRequiredResponseError);
  });

  it.each([
    [413, errors.PayloadTooLargeResponseError, 413],
    [502, errors.BadGatewayResponseError, 401],
    [524, errors.EdgeNetworkTimeoutResponseError, 504],
    [429, errors.TooManyRequestsResponseError, 429],
    [529, errors.ProviderOverloadedResponseError, 503],
  ])('have their own type for the status %d', async (statusCode, expected, upstreamStatus) => {
    // A rejected credential rests for a minute at most.
    setup.app.clock.advance(60_000);
    setup.upstream.answerWith(rejectWith(upstreamStatus, {}, { 'retry-after': '90' }));
    const failure = await ask(inference());
    expect(failure).toBeInstanceOf(expected);
    expect(failure.statusCode).toBe(statusCode);
  });

  it('have their own type for 429, with Retry-After', async () => {
    const limited = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '1' });
    try {
      const client = new OpenRouter({
        serverURL: limited.app.baseUrl,
        apiKey: limited.app.apiKey,
        retryConfig: { strategy: 'none' },
      });
      await client.embeddings.generate({ requestBody: { model: LOCAL, input: 'a' } });
      const failure = await ask(client, { model: LOCAL });
      expect(failure).toBeInstanceOf(errors.TooManyRequestsResponseError);
      expect(failure.headers.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await limited.close();
    }
  });
});
