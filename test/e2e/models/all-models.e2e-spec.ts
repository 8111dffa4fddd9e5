// /models, /models/count, /models/user, one model by its names, and /providers.
import { ProviderCredentialsRepository } from '../../../src/persistence/keys/provider-credentials.repository.js';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { expectError } from '../../support/requests/error-shape.js';
import { createCredential, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

interface ModelList {
  readonly data: readonly { readonly id: string }[];
  readonly total_count: number;
  readonly links: { readonly next: string | null };
}

let setup: ByokSetup;
let app: TestApp;
let whole: ModelList;
beforeAll(async () => {
  setup = await startWithKeys();
  app = setup.app;
  whole = (await app.http.get('/api/v1/embeddings/models')).body as ModelList;
});
afterAll(() => setup.close());

interface ListedModel {
  readonly id: string;
  readonly canonical_slug: string;
}

async function listOf(query: string): Promise<readonly ListedModel[]> {
  const response = await app.http.get(`/api/v1/models${query}`);
  expect(response.status).toBe(200);
  const { data } = response.body as { data: ListedModel[] };
  const count = await app.http.get(`/api/v1/models/count${query}`);
  expect(count.body).toEqual({ data: { count: data.length } });
  return data;
}
const idsOf = async (query: string): Promise<string[]> => (await listOf(query)).map(({ id }) => id);

describe('GET /models', () => {
  it('lists the models that can be called here, and no others', async () => {
    const ids = await idsOf('');
    expect(await idsOf('?output_modalities=embeddings')).toEqual(whole.data.map(({ id }) => id));
    expect(ids).toEqual(
      expect.arrayContaining([
        'local/hashing',
        'local/echo',
        'openai/text-embedding-3-small',
        'openai/gpt-4.1-mini',
      ]),
    );
    expect(ids.filter((id) => id.startsWith('cohere/'))).toEqual([]);
  });

  it('lists the rest of the catalogue with configured=false', async () => {
    const ids = await idsOf('?configured=false');
    expect(ids).toEqual(expect.arrayContaining(['openai/text-embedding-3-small', 'cohere/embed-v4.0']));
    expect(ids.length).toBeGreaterThan(whole.total_count);
  });

  it.each(['embeddings', 'all', 'text,embeddings'])(
    'returns for %s the whole list, page by page',
    async (modalities) => {
      const query = `output_modalities=${modalities}&configured=false`;
      const expected = await listOf(`?${query}`);
      const seen: unknown[] = [];
      for (let next: string | null = `/api/v1/models?${query}&limit=7`; next !== null;) {
        const part: ModelList = (await app.http.get(next)).body as ModelList;
        seen.push(...part.data);
        next = part.links.next;
      }
      expect(seen).toEqual(expected);
    },
  );

  it.each([
    ['category=programming', []],
    ['supported_parameters=tools', []],
    ['supported_parameters=dimensions,tools', []],
    ['q=no such model', []],
    ['max_price=0.000001', ['local/hashing']],
    ['providers=local', ['local/hashing']],
    ['providers=nebius', []],
    ['model_authors=local', ['local/hashing']],
    ['zdr=true', ['local/hashing']],
    ['context=1000000', ['local/hashing']],
    ['q=FEATURE HASHING', ['local/hashing']],
    ['input_modalities=image', []],
    ['min_price=0.12&max_price=0.13', ['openai/text-embedding-3-large']],
    ['supported_parameters=dimensions&q=3-small', ['openai/text-embedding-3-small']],
  ])('filters embedding models by %s', async (query, expected) => {
    expect(await idsOf(`?output_modalities=embeddings&${query}`)).toEqual(expected);
  });

  it.each([
    ['category=programming', []],
    ['providers=local', ['local/echo']],
    ['max_price=0.000001', ['local/echo']],
    ['q=gpt-4.1', ['openai/gpt-4.1', 'openai/gpt-4.1-mini', 'openai/gpt-4.1-nano']],
    ['supported_parameters=reasoning,verbosity&max_price=0.05', ['openai/gpt-5-nano']],
    ['input_modalities=image&max_price=0.1&q=4.1', ['openai/gpt-4.1-nano']],
    ['configured=false&input_modalities=audio&max_price=0.2', ['google/gemini-2.5-flash-lite']],
    ['configured=false&model_authors=cohere&context=200000', ['cohere/command-a']],
  ])('filters chat models by %s', async (query, expected) => {
    expect(await idsOf(`?output_modalities=text&${query}`)).toEqual(expected);
  });

  it('describes a chat model with its prices, limits and parameters', async () => {
    const response = await app.http.get('/api/v1/model/openai/gpt-4.1-mini');
    expect(response.body).toMatchObject({
      data: {
        context_length: 1_047_576,
        architecture: {
          input_modalities: ['text', 'image', 'file'],
          output_modalities: ['text'],
          modality: 'text+image+file->text',
          tokenizer: 'GPT',
        },
        pricing: {
          prompt: '0.0000004',
          completion: '0.0000016',
          input_cache_read: '0.0000001',
          image: '0',
          request: '0',
        },
        top_provider: { context_length: 1_047_576, max_completion_tokens: 32_768 },
        supported_parameters: expect.arrayContaining(['tools', 'structured_outputs', 'max_tokens']),
      },
    });
  });

  it.each([
    ['configured=false&providers=google-ai-studio', 'google/'],
    ['configured=false&model_authors=voyage', 'voyage/'],
    ['configured=false&input_modalities=text,audio', 'google/'],
  ])('filters the catalogue by %s', async (query, prefix) => {
    const ids = await idsOf(`?${query}`);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id) => !id.startsWith(prefix))).toEqual([]);
  });

  it.each(['_=1732617600', 'use_rss=true', 'distillable=true', 'q=', 'category='])(
    'ignores %s',
    async (query) => {
      expect(await idsOf(`?${query}`)).toEqual(await idsOf(''));
    },
  );

  it.each([
    ['pricing-low-to-high', 'local/hashing', 'openai/text-embedding-3-large'],
    ['pricing-high-to-low', 'openai/text-embedding-3-large', 'local/hashing'],
    ['context-high-to-low', 'local/hashing', null],
    ['newest', 'local/hashing', 'openai/text-embedding-ada-002'],
    ['most-popular', 'local/hashing', null],
    ['latency-low-to-high', null, null],
    ['throughput-high-to-low', null, null],
  ])('sorts by %s', async (sort, first, last) => {
    const ids = await idsOf(`?output_modalities=embeddings&sort=${sort}`);
    expect(ids.toSorted()).toEqual((await idsOf('?output_modalities=embeddings')).toSorted());
    if (first !== null) expect(ids[0]).toBe(first);
    if (last !== null) expect(ids.at(-1)).toBe(last);
  });

  it.each([
    ['output_modalities=smell', 'output_modalities: must be all, or some of text'],
    ['output_modalities=all&limit=0', 'limit: must be from 1 to 1000'],
    ['input_modalities=smell', 'input_modalities: must be some of text'],
    ['max_price=cheap', 'max_price: must be a number'],
    ['context=-1', 'context: must not be negative'],
    ['sort=colour', 'sort: must be one of pricing-low-to-high'],
    ['configured=maybe', 'configured: must be true or false'],
  ])('returns 400 for %s', async (query, message) => {
    for (const path of ['models', 'models/count'])
      if (path === 'models' || !query.includes('limit'))
        expect(expectError(await app.http.get(`/api/v1/${path}?${query}`), 400)).toContain(message);
  });
});

describe('GET /models/{author}/{slug}', () => {
  it.each([
    'openai/text-embedding-3-small',
    'openai%2Ftext-embedding-3-small',
    'text-embedding-3-small',
    'openai/text-embedding-3-small:floor',
  ])('answers one model at %s', async (path) => {
    const response = await app.http.get(`/api/v1/models/${path}`);
    const id = 'openai/text-embedding-3-small';
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      id,
      object: 'model',
      created: Date.parse('2024-01-25T00:00:00Z') / 1000,
      owned_by: 'openai',
      data: whole.data.find((model) => model.id === id),
    });
  });

  it('answers aliases with the one record', async () => {
    for (const path of ['models', 'model']) {
      const response = await app.http.get(`/api/v1/${path}/mistralai/mistral-embed-2312`);
      expect(response.body).toMatchObject({
        data: { id: 'mistralai/mistral-embed', canonical_slug: 'mistralai/mistral-embed-2312' },
      });
    }
    const endpoints = await ask(app, 'get', '/models/mistralai/mistral-embed-2312/endpoints', {
      key: app.apiKey,
    });
    expect(endpoints.body).toMatchObject({ data: { id: 'mistralai/mistral-embed' } });
  });

  it.each(['openai/none', 'none', 'openai%2Fnone', 'openai/text-embedding-3-small:free', '%00'])(
    'returns 404 for %s',
    async (path) => {
      expectError(await app.http.get(`/api/v1/models/${path}`), 404);
    },
  );
});

describe('GET /models/user', () => {
  it('reads the own credentials of its workspace once, however many models there are', async () => {
    const { apiKey } = await app.createAccount();
    const load = jest.spyOn(app.application.get(ProviderCredentialsRepository), 'listForWorkspace');
    await askFor(200, app, 'get', '/models/user', { key: apiKey });
    expect(load).toHaveBeenCalledTimes(1);
    load.mockRestore();
  });

  it('returns the models that this key can reach, also by own credentials', async () => {
    const list = () =>
      askFor<ModelList>(200, app, 'get', '/models/user?output_modalities=all', { key: app.apiKey });
    const before = (await list()).data.map(({ id }) => id);
    expect(before).toEqual(expect.arrayContaining(['local/hashing', 'openai/text-embedding-3-small']));
    const ofCohere = 'cohere/embed-v4.0';
    expect(before).not.toContain(ofCohere);
    await createCredential(app, {
      provider: 'cohere',
      apiKey: 'own-key-at-cohere',
      allowedModels: [ofCohere],
    });
    // The credential is written to the database directly, so the service learns of it a moment later.
    const after = await eventually(list, ({ data }) => data.length > before.length);
    expect(after.data.map(({ id }) => id).toSorted()).toEqual([...before, ofCohere].toSorted());
    expectError(await app.http.get('/api/v1/models/user'), 401);
  });
});

describe('GET /model/{author}/{slug}', () => {
  it('returns one record without a credential', async () => {
    const response = await app.http.get('/api/v1/model/local/hashing');
    expect(response.body).toEqual({ data: whole.data.find(({ id }) => id === 'local/hashing') });
    expectError(await app.http.get('/api/v1/model/local/none'), 404);
  });
});

describe('GET /providers', () => {
  it('returns every provider by the slug of preferences', async () => {
    const { data } = (await app.http.get('/api/v1/providers')).body as { data: { slug: string }[] };
    expect(data).toContainEqual({ slug: 'openai', name: 'OpenAI', aliases: [], privacy_policy_url: null });
    expect(new Set(data.map(({ slug }) => slug)).size).toBe(data.length);
    expectError(await ask(app, 'delete', '/providers'), 405);
  });
});
