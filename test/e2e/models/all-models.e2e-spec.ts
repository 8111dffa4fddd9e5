// /models, /models/count, /models/user, /model/{author}/{slug} and /providers.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/admin.js';
import type { TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { expectError } from '../../support/error-shape.js';
import { createCredential, startWithKeys } from '../../support/provider-credential.js';
import type { ByokSetup } from '../../support/provider-credential.js';

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

describe('GET /models', () => {
  it('returns an empty list without output_modalities: no model here generates text', async () => {
    const response = await app.http.get('/api/v1/models');
    expect({ status: response.status, body: response.body }).toEqual({
      status: 200,
      body: { data: [], total_count: 0, links: { next: null } },
    });
    expect((await app.http.get('/api/v1/models/count')).body).toEqual({ data: { count: 0 } });
  });

  it.each(['embeddings', 'all', 'text,embeddings'])(
    'returns for %s the whole list, page by page',
    async (modalities) => {
      const query = `output_modalities=${modalities}`;
      expect((await app.http.get(`/api/v1/models?${query}`)).body).toEqual(whole);
      expect((await app.http.get(`/api/v1/models/count?${query}`)).body).toEqual({
        data: { count: whole.total_count },
      });
      const seen: unknown[] = [];
      for (let next: string | null = `/api/v1/models?${query}&limit=7`; next !== null;) {
        const part: ModelList = (await app.http.get(next)).body as ModelList;
        seen.push(...part.data);
        next = part.links.next;
      }
      expect(seen).toEqual(whole.data);
    },
  );

  it.each([
    ['output_modalities=smell', 'output_modalities: must be all, or some of text'],
    ['category=science', 'category: is not a member of this object'],
    ['output_modalities=all&limit=0', 'limit: must be from 1 to 1000'],
  ])('returns 400 for %s', async (query, message) => {
    expect(expectError(await app.http.get(`/api/v1/models?${query}`), 400)).toContain(message);
  });
});

describe('GET /models/user', () => {
  it('returns the models that this key can reach, also by own credentials', async () => {
    const list = () =>
      askFor<ModelList>(200, app, 'get', '/models/user?output_modalities=all', { key: app.apiKey });
    const before = (await list()).data.map(({ id }) => id);
    expect(before).toEqual(expect.arrayContaining(['local/hashing', 'openai/text-embedding-3-small']));
    const missing = whole.data.map(({ id }) => id).filter((id) => !before.includes(id));
    const ofCohere = missing.find((id) => id.startsWith('cohere/'))!;
    expect(ofCohere).toBeDefined();
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
    expect(data).toContainEqual({ slug: 'openai', name: 'OpenAI', privacy_policy_url: null });
    expect(new Set(data.map(({ slug }) => slug)).size).toBe(data.length);
    expectError(await ask(app, 'delete', '/providers'), 405);
  });
});
