// GET /embeddings/models: the public catalogue.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { expectError } from '../../support/requests/error-shape.js';

const UNPRICED = `models:
  - id: acme/unpriced
    name: 'Acme: Unpriced'
    created_at: 2026-06-01
    native_dimensions: 8
    context_length: 100
    endpoints:
      - provider: openai-compatible
        upstream_model: unpriced
        modalities: [text, image]
        max_inputs_per_call: 5
        max_tokens_per_input: 100
        prices: []
        data_policy: { retains_prompts: false, trains: false }
`;

interface ModelList {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total_count: number;
  readonly links: { readonly next: string | null };
}

let app: TestApp;
beforeAll(async () => {
  app = await withCatalogueFile(UNPRICED, (file) =>
    createTestApp({
      environment: {
        CATALOGUE_FILE: file,
        OPENAI_API_KEY: 'k',
        OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9',
      },
    }),
  );
});
afterAll(() => app.close());

const list = async (query = ''): Promise<Response> => app.http.get(`/api/v1/embeddings/models${query}`);
async function listOf(query = ''): Promise<ModelList> {
  const response = await list(query);
  expect(response.status).toBe(200);
  return response.body as ModelList;
}

describe('200', () => {
  it('contains the whole list, without a credential', async () => {
    const { data, total_count, links } = await listOf();
    expect(total_count).toBe(data.length);
    expect(links).toEqual({ next: null });
    expect(data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['local/hashing', 'openai/text-embedding-3-small', 'acme/unpriced']),
    );
  });

  it('has every member that clients require in a record', async () => {
    const { data } = await listOf();
    expect(data.find(({ id }) => id === 'local/hashing')).toEqual({
      id: 'local/hashing',
      canonical_slug: 'local/hashing',
      name: expect.any(String),
      display_name: expect.any(String),
      description: expect.any(String),
      created: Date.parse('2026-11-21T00:00:00Z') / 1000,
      context_length: 1_000_000,
      architecture: {
        input_modalities: ['text'],
        output_modalities: ['embeddings'],
        modality: 'text->embeddings',
        tokenizer: 'Other',
        instruct_type: null,
      },
      pricing: { prompt: '0', completion: '0' },
      top_provider: { is_moderated: false, context_length: 1_000_000, max_completion_tokens: null },
      per_request_limits: null,
      default_parameters: null,
      supported_voices: null,
      supported_parameters: ['dimensions', 'encoding_format'],
      links: { details: '/api/v1/models/local/hashing/endpoints' },
    });
  });

  it('has prices as decimal strings of USD for one token, without exponents', async () => {
    const { data } = await listOf();
    const small = data.find(({ id }) => id === 'openai/text-embedding-3-small');
    expect(small).toMatchObject({ pricing: { prompt: '0.00000002', completion: '0' } });
  });

  it('has -1, not 0, for an unknown price', async () => {
    const { data } = await listOf();
    expect(data.find(({ id }) => id === 'acme/unpriced')).toMatchObject({
      pricing: { prompt: '-1', completion: '0' },
      architecture: { modality: 'text+image->embeddings' },
      supported_parameters: ['encoding_format'],
    });
  });

  it('returns a page, and the address of the next', async () => {
    const whole = await listOf();
    const first = await listOf('?limit=2');
    expect(first).toEqual({
      data: whole.data.slice(0, 2),
      total_count: whole.total_count,
      links: { next: '/api/v1/embeddings/models?offset=2&limit=2' },
    });
    const seen = [...first.data];
    for (let next = first.links.next; next !== null;) {
      const part: ModelList = (await app.http.get(next)).body as ModelList;
      seen.push(...part.data);
      next = part.links.next;
    }
    expect(seen).toEqual(whole.data);
    expect(await listOf('?offset=100000')).toEqual({
      data: [],
      total_count: whole.total_count,
      links: { next: null },
    });
  });

  it('is the same with a valid or invalid credential', async () => {
    const response = await app.http.get('/api/v1/embeddings/models').set('authorization', 'Bearer wrong');
    expect(response.status).toBe(200);
  });
});

describe('400', () => {
  it.each([
    ['limit=0', 'limit: must be from 1 to 1000'],
    ['limit=1001', 'limit: must be from 1 to 1000'],
    ['limit=', 'limit: must be a whole number'],
    ['limit=1.5', 'limit: must be a whole number'],
    ['limit=1&limit=2', 'limit: must be a whole number'],
    ['limit[a]=1', null],
    ['offset=-1', 'offset: must not be negative'],
    ['offset=1e3', 'offset: must be a whole number'],
    ['offset=99999999999999999999', 'offset: must be a whole number'],
  ])('is returned for %s', async (query, message) => {
    const response = await list(`?${query}`);
    // A member with another name is not this one.
    if (message === null) expect(response.status).toBe(200);
    else expectError(response, 400, `Invalid request parameters: ${message}`);
  });
});

describe('405', () => {
  it('is returned for another method', async () => {
    const response = await app.http.delete('/api/v1/embeddings/models');
    expectError(response, 405, 'Method not allowed');
    expect(response.headers['allow']).toBe('GET');
  });
});
