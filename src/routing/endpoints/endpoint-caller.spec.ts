// Nothing but whole vectors of the wanted width comes through.
import { describe, expect, it } from '@jest/globals';
import { createEndpoint, createTarget } from '../../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import type { AppConfig } from '../../config/app-config.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { VLLM_MEMBERS } from '../../providers/shared/embedding-members.js';
import type { EmbeddingProvider, ProviderCall } from '../../providers/shared/provider.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import { HttpClient } from '../../outbound/http-client.js';
import { EndpointCaller } from './endpoint-caller.js';

const caller = new EndpointCaller(
  new HttpClient(),
  { providers: new Map() } as Partial<AppConfig> as AppConfig,
  { now: () => new Date(0) },
  new YieldQueue(),
);

/** Calls an endpoint whose vectors always have the native width of four. */
async function callFor(
  endpoint: Partial<ModelEndpoint>,
  dimensions: number,
  values: readonly number[] = [3, 4, 0, 0],
): Promise<unknown[]> {
  const target = createTarget(createEndpoint(endpoint));
  const embed = async () => ({
    vectors: [{ form: 'floats' as const, values: Float32Array.from(values) }],
    promptTokens: 1,
    totalTokens: 1,
    upstreamId: null,
  });
  const request: EmbeddingRequest = {
    model: 'vendor/model',
    input: { form: 'texts', items: ['a'] },
    encodingFormat: 'float',
    extra: {},
    dimensions,
  };
  const answer = await caller.call(
    { ...target, provider: { ...target.provider, embed } as EmbeddingProvider },
    request,
    request.input,
    { timeout: 1_000, signal: new Cancellation(), accountId: 'account' },
  );
  return [...answer.vectors];
}

/** Calls a vLLM server, and resolves with the members that its provider gets. */
async function sentTo(endpoint: Partial<ModelEndpoint>, extra: EmbeddingRequest['extra']): Promise<unknown> {
  let sent: unknown;
  const target = createTarget(createEndpoint(endpoint));
  const embed = async (call: ProviderCall) => {
    sent = call.extra;
    const vectors = [{ form: 'floats' as const, values: Float32Array.of(1, 0, 0, 0) }];
    return { vectors, promptTokens: 1, totalTokens: 1, upstreamId: null };
  };
  const provider = { ...target.provider, name: 'vLLM', members: VLLM_MEMBERS, embed } as EmbeddingProvider;
  const request: EmbeddingRequest = {
    model: 'vendor/model',
    input: { form: 'texts', items: ['a'] },
    encodingFormat: 'float',
    extra,
  };
  const limits = { timeout: 1_000, signal: new Cancellation(), accountId: 'account' };
  await caller.call({ ...target, provider }, request, request.input, limits);
  return sent;
}

describe('unknown members of a call to a server of the operator', () => {
  it('are sent when they are listed or allowed', async () => {
    const extra = { truncate_prompt_tokens: 5, priority: 1 };
    expect(await sentTo({}, extra)).toEqual({ truncate_prompt_tokens: 5 });
    expect(await sentTo({ allowedMembers: ['priority'] }, extra)).toEqual(extra);
  });

  it('reject the call when they change its vectors and are not sent', async () => {
    const extra = { chat_template: 'x' };
    await expect(sentTo({}, extra)).rejects.toMatchObject({
      failureClass: 'unsupported',
      message: expect.stringMatching(/^chat_template: changes the vectors .* leave it out$/),
    });
    expect(await sentTo({ allowedMembers: ['chat_template'] }, extra)).toEqual(extra);
  });
});

describe('call', () => {
  it('cuts what an endpoint cannot cut itself', async () => {
    expect(await callFor({ takesDimensions: false }, 2)).toEqual([
      { form: 'floats', values: Float32Array.from([0.6, 0.8]) },
    ]);
  });

  it.each([
    [4, [0, 0, -0, 0]],
    [2, [0, 0, 0, 0]],
    [2, [0, 0, 1, 0]],
  ])('lets no vector of zeros through, of %d numbers of %j', async (width, values) => {
    await expect(callFor({ takesDimensions: false }, width, values)).rejects.toMatchObject({
      failureClass: 'unusable',
      message: `a vector has nothing but zeros in its ${width} numbers`,
    });
  });

  it.each([
    [false, 'vectors of 4 cannot become vectors of 8'],
    [true, 'a vector has 4 numbers and not 8'],
  ])(
    'lets no vector through that is narrower than wanted; takes dimensions: %p',
    async (takesDimensions, message) => {
      await expect(callFor({ takesDimensions }, 8)).rejects.toMatchObject({
        failureClass: 'broken',
        message,
      });
    },
  );
});
