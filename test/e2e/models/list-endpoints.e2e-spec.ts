// GET /models/{author}/{slug}/endpoints: the endpoints of a model and their health.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import type { TestApp } from '../../support/app/app.js';
import {
  answerWithEmbeddings,
  embed,
  LOCAL,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';

let setup: Setup;
let app: TestApp;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRIES: '0' });
  ({ app } = setup);
});
afterAll(() => setup.close());

async function list(model: string, credential: string | null = app.apiKey): Promise<Response> {
  const request = app.http.get(`/api/v1/models/${model}/endpoints`);
  return credential === null ? request : request.set('authorization', `Bearer ${credential}`);
}

async function endpointOf(model: string, tag: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await list(model);
  expect(response.status).toBe(200);
  const { data } = response.body as { data: { endpoints: Readonly<Record<string, unknown>>[] } };
  return data.endpoints.find((endpoint) => endpoint['tag'] === tag)!;
}

const PERCENTILES = {
  p50: expect.any(Number),
  p75: expect.any(Number),
  p90: expect.any(Number),
  p99: expect.any(Number),
};

describe('200', () => {
  it('has every member for an endpoint without calls, and no health yet', async () => {
    const response = await list('openai/text-embedding-3-large');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      data: {
        id: 'openai/text-embedding-3-large',
        name: expect.any(String),
        created: Date.parse('2024-01-25T00:00:00Z') / 1000,
        description: expect.any(String),
        architecture: {
          input_modalities: ['text'],
          output_modalities: ['embeddings'],
          modality: 'text->embeddings',
          tokenizer: 'Other',
          instruct_type: null,
        },
        endpoints: expect.arrayContaining([
          {
            name: 'OpenAI | openai/text-embedding-3-large',
            model_id: 'openai/text-embedding-3-large',
            model_name: expect.any(String),
            provider_name: 'OpenAI',
            tag: 'openai',
            context_length: expect.any(Number),
            pricing: { prompt: '0.00000013', completion: '0' },
            quantization: null,
            max_completion_tokens: null,
            max_prompt_tokens: expect.any(Number),
            supported_parameters: ['dimensions', 'encoding_format'],
            supports_implicit_caching: false,
            supports_tool_choice: { auto: false, none: false, required: false, function: false },
            supports_voice_cloning: false,
            uptime_last_5m: null,
            uptime_last_30m: null,
            uptime_last_1d: null,
            latency_last_30m: null,
            throughput_last_30m: null,
            status: 0,
          },
        ]),
      },
    });
  });

  it('is returned to a management key', async () => {
    expect((await list(LOCAL, app.managementKey)).status).toBe(200);
  });

  it('shows the calls in the health of their endpoint', async () => {
    expect((await embed(app, { model: LOCAL, input: 'some words' })).status).toBe(200);
    expect(await endpointOf(LOCAL, 'local')).toMatchObject({
      uptime_last_5m: 100,
      uptime_last_30m: 100,
      uptime_last_1d: 100,
      latency_last_30m: PERCENTILES,
      throughput_last_30m: PERCENTILES,
      status: 0,
    });
  });

  it('shows a failing endpoint as open', async () => {
    setup.upstream.answerWith(answerWithEmbeddings([JSON.stringify(Array(1536).fill(0.5))]));
    expect((await embed(app, { model: SMALL, input: 'x' })).status).toBe(200);
    setup.upstream.answerWith(rejectWith(500, { error: { message: 'broken' } }));
    for (let call = 0; call < 9; call++) await embed(app, { model: SMALL, input: 'x' });
    expect(await endpointOf(SMALL, 'openai')).toMatchObject({
      uptime_last_5m: 10,
      uptime_last_30m: 10,
      uptime_last_1d: 10,
      latency_last_30m: PERCENTILES,
      status: -5,
    });
  });

  it('shows an endpoint without a credential', async () => {
    const replica = await startWithUpstream({ OPENAI_API_KEY: '' }, { databaseUrl: app.databaseUrl });
    try {
      const response = await replica.app.http
        .get(`/api/v1/models/${SMALL}/endpoints`)
        .set('authorization', `Bearer ${replica.app.apiKey}`);
      const { data } = response.body as { data: { endpoints: { tag: string; status: number }[] } };
      expect(data.endpoints.find(({ tag }) => tag === 'openai')).toMatchObject({ status: -10 });
    } finally {
      await replica.close();
    }
  });
});

describe('a chat model', () => {
  it('has the limits, parameters and prices of each endpoint', async () => {
    expect(await endpointOf('openai/gpt-4.1-mini', 'azure')).toMatchObject({
      context_length: 1_047_576,
      max_completion_tokens: 32_768,
      max_prompt_tokens: null,
      pricing: { prompt: '0.0000004', completion: '0.0000016', input_cache_read: '0.0000001' },
      supported_parameters: expect.arrayContaining(['tools', 'tool_choice']),
      supports_tool_choice: { auto: true, none: true, required: true, function: true },
      status: -10,
    });
    expect(await endpointOf('local/echo', 'local')).toMatchObject({
      max_completion_tokens: 32_768,
      supports_tool_choice: { auto: false, none: false, required: false, function: false },
      status: 0,
    });
  });
});

describe('401', () => {
  it('is returned without a credential, and for an unknown one', async () => {
    expectError(await list(LOCAL, null), 401, 'Missing Authentication header');
    expectError(await list(LOCAL, 'wrong'), 401, 'Invalid credentials');
  });
});

describe('404', () => {
  it.each([['local/none'], ['none/hashing'], ['local/Hashing'], ['__proto__/x'], ['local/%00'], ['a%2Fb/c']])(
    'is returned for %s',
    async (model) => {
      expectError(await list(model), 404, 'Resource not found: there is no model of this name');
    },
  );

  it('is returned for a model without its author', async () => {
    expectError(await list('hashing'), 404, 'Resource not found: there is no model of this name');
  });
});
