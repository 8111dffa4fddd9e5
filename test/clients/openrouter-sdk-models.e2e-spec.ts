// @openrouter/sdk against the routes of models and generations.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { NotFoundResponseError } from '@openrouter/sdk/models/errors';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';

const LOCAL = { author: 'local', slug: 'hashing' };

let app: TestApp;
let client: OpenRouter;
beforeAll(async () => {
  app = await createTestApp({ environment: { OPENAI_API_KEY: 'k' } });
  client = new OpenRouter({
    apiKey: app.apiKey,
    serverURL: app.baseUrl,
    retryConfig: { strategy: 'none' },
  });
});
afterAll(() => app.close());

describe('@openrouter/sdk', () => {
  it('lists the embedding models', async () => {
    const { result } = await client.embeddings.listModels();
    expect(result.totalCount).toBe(result.data.length);
    expect(result.data.find(({ id }) => id === 'openai/text-embedding-3-small')).toMatchObject({
      contextLength: expect.any(Number),
      pricing: { prompt: '0.00000002' },
      architecture: { outputModalities: ['embeddings'] },
      supportedVoices: null,
    });
  });

  it('reads the list page by page', async () => {
    const whole = await client.embeddings.listModels();
    const ids: string[] = [];
    for await (const page of await client.embeddings.listModels({ limit: 1 })) {
      ids.push(...page.result.data.map(({ id }) => id));
    }
    expect(ids).toEqual(whole.result.data.map(({ id }) => id));
  });

  it('lists the endpoints of a model', async () => {
    await client.embeddings.generate({ requestBody: { model: 'local/hashing', input: 'some words' } });
    const { data } = await client.endpoints.list(LOCAL);
    expect(data.endpoints).toEqual([
      expect.objectContaining({
        tag: 'local',
        status: 0,
        uptimeLast30m: 100,
        latencyLast30m: expect.objectContaining({ p99: expect.any(Number) }),
      }),
    ]);
  });

  it('returns the record of a call by the id of its response', async () => {
    const answer = await client.embeddings.generate({
      requestBody: { model: 'local/hashing', input: 'some words' },
    });
    const { id, usage } = answer as { id: string; usage: { promptTokens: number } };
    const { data } = await client.generations.getGeneration({ id });
    expect(data).toMatchObject({
      model: 'local/hashing',
      apiType: 'embeddings',
      tokensPrompt: usage.promptTokens,
      totalCost: 0,
      isByok: false,
    });
  });

  it('throws its own errors', async () => {
    for (const id of ['gen-019a960bd80070008000000000000000', 'gen-does-not-exist'])
      await expect(client.generations.getGeneration({ id })).rejects.toThrow(NotFoundResponseError);
    await expect(client.endpoints.list({ author: 'local', slug: 'none' })).rejects.toThrow(
      NotFoundResponseError,
    );
  });

  it('learns at once, with its default retries, that no endpoint can serve', async () => {
    const retrying = new OpenRouter({ apiKey: app.apiKey, serverURL: app.baseUrl });
    const ask = (model: string, provider?: { only: string[] }) =>
      retrying.embeddings.generate({ requestBody: { model, input: 'words', ...(provider && { provider }) } });
    await expect(ask('cohere/embed-v4.0')).rejects.toThrow(NotFoundResponseError);
    await expect(ask('local/hashing', { only: ['openai'] })).rejects.toThrow(NotFoundResponseError);
    await expect(ask('local/unknown')).rejects.toThrow(NotFoundResponseError);
  });
});
