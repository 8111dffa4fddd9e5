// POST /rerank: the order, the wire of each provider, the money, and the record.
import { OpenRouter } from '@openrouter/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerLikeVendor,
  answerOf,
  rerank,
  startRerank,
  WIRES,
} from '../../support/rerank/rerank-upstream.js';
import type { RerankSetup } from '../../support/rerank/rerank-upstream.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

const COHERE = 'cohere/rerank-v3.5';
const COHERE_PATH = '/cohere/v2/rerank';
const ONLY_COHERE = { only: ['cohere'] };

let setup: RerankSetup;
beforeAll(async () => {
  setup = await startRerank();
});
afterEach(() => {
  setup.deeds.clear();
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

const call = (body: object, key?: string) =>
  rerank(
    setup.app,
    { model: COHERE, query: 'which one comes first', documents: ['0.5', '0.9'], ...body },
    key,
  );
const indexes = ({ results }: ReturnType<typeof answerOf>) => results.map(({ index }) => index);
const numbered = (count: number) =>
  Array.from({ length: count }, (_value, index) => `0.${1000 + index} text`);

describe('POST /rerank', () => {
  it.each(WIRES.map(({ slug, ...row }) => [slug, row] as const))(
    'sorts and cuts the results of %s, echoes the documents, and charges its bill',
    async (slug, { model, path, usage }) => {
      const documents = ['0.2 low', '0.9 best'];
      const answer = answerOf(await call({ model, documents, top_n: 1, provider: { only: [slug] } }));
      expect(answer.results).toEqual([{ index: 1, relevance_score: 0.9, document: { text: '0.9 best' } }]);
      expect(answer.model).toBe(model);
      expect(answer.usage).toMatchObject(usage);
      expect(setup.upstream.requests.map((request) => request.path)).toEqual([path]);
    },
  );

  it('names the end of the model and its successor in the headers of the answer', async () => {
    const { headers } = await call({ model: 'acme/leaving' });
    expect(headers).toMatchObject({
      deprecation: `@${Date.parse('2027-03-31') / 1_000}`,
      sunset: 'Wed, 31 Mar 2027 00:00:00 GMT',
      link: '</api/v1/models/acme/vllm>; rel="successor-version"',
    });
    expect((await call({})).headers).not.toHaveProperty('sunset');
  });

  it('keeps two equal documents as two results, and sorts equal scores by their index', async () => {
    expect(
      indexes(answerOf(await call({ documents: ['0.5', '0.9', '0.5', '0.9'], provider: ONLY_COHERE }))),
    ).toEqual([1, 3, 0, 2]);
  });

  it('counts two search units for 150 short documents where the provider reports no usage', async () => {
    const answer = answerOf(await call({ documents: numbered(150), provider: { only: ['bedrock'] } }));
    expect(answer.usage).toMatchObject({ search_units: 2, cost: 0.004, source: 'counted' });
  });

  it('counts a search unit where a server with a price by unit reports tokens only', async () => {
    const answer = answerOf(await call({ model: 'acme/by-unit' }));
    expect(answer.usage).toMatchObject({ search_units: 1, total_tokens: 50, cost: 0.003, source: 'counted' });
  });

  it('counts search units where an answer has them in another form than the wire', async () => {
    setup.deeds.set(COHERE_PATH, (_request, response) =>
      sendJson(response, 200, { results: [{ index: 0, relevance_score: 1 }], usage: { search_units: 7 } }),
    );
    const answer = answerOf(await call({ provider: ONLY_COHERE }));
    expect(answer.usage).toMatchObject({ search_units: 1, cost: 0.002, source: 'counted' });
  });

  it('charges at most the bound of the documents, whatever a provider reports', async () => {
    setup.deeds.set(COHERE_PATH, (_request, response) =>
      sendJson(response, 200, {
        results: [{ index: 0, relevance_score: 1 }],
        meta: { billed_units: { search_units: 500 } },
      }),
    );
    expect(answerOf(await call({ provider: ONLY_COHERE })).usage['cost']).toBe(0.002);
  });

  it('splits 33 documents for a server that takes 32, into one order and one generation', async () => {
    const answer = answerOf(await call({ model: 'acme/tei', documents: numbered(33), top_n: 2 }));
    const sizes = setup.upstream.requests.map(({ body }) => (body['texts'] as unknown[]).length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 32]);
    expect(indexes(answer)).toEqual([32, 31]);
  });

  it.each([
    ['an index beyond the documents', [{ index: 7, relevance_score: 1 }]],
    [
      'one index twice',
      [
        { index: 0, relevance_score: 1 },
        { index: 0, relevance_score: 1 },
      ],
    ],
    ['a score that is not finite', [{ index: 0, relevance_score: '1e999' }]],
  ])('asks the next endpoint after %s, and returns 502 without another', async (_name, results) => {
    setup.deeds.set(COHERE_PATH, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ results }).replace('"1e999"', '1e999'));
    });
    expect(answerOf(await call({ provider: { order: ['cohere', 'bedrock'] } })).provider).toBe(
      'Amazon Bedrock',
    );
    expect((await call({ provider: ONLY_COHERE })).status).toBe(502);
  });

  it('falls back to Bedrock after a 429 of Cohere with one generation and one charge', async () => {
    const key = await setup.app.createKey();
    setup.deeds.set(COHERE_PATH, (_request, response) => sendJson(response, 429, { message: 'slow down' }));
    const answer = answerOf(await call({ provider: { order: ['cohere', 'bedrock'] } }, key.secret));
    expect(answer.provider).toBe('Amazon Bedrock');
    const rows = await setup.app.sql<{ operation: string; cost: string; provider: string }>(
      'SELECT operation, cost, provider FROM generations WHERE api_key_id = $1',
      [key.record.id],
    );
    expect(rows).toEqual([{ operation: 'rerank', cost: '0.002000000000', provider: 'bedrock' }]);
  });

  it('grants five of fifty parallel calls under a limit of five search units', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('0.01') });
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await call({ provider: ONLY_COHERE }, key.secret)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 402)).toHaveLength(45);
  });

  it('uses the path that the catalogue states, and names it when the server does not have it', async () => {
    const response = await call({ model: 'acme/other-path' });
    expect(response.status).toBe(502);
    expect(setup.upstream.requests.map(({ path }) => path)).toEqual(['/vllm/v2/rerank']);
    expect(response.text).toContain('rerank at /v2/rerank');
    setup.deeds.set('/vllm/v2/rerank', (request, answer) =>
      answerLikeVendor(
        request,
        answer,
        WIRES.find(({ slug }) => slug === 'vllm')!,
      ),
    );
    expect((await call({ model: 'acme/other-path' })).status).toBe(200);
  });

  it('asks a vLLM server to cut each document where the catalogue says so, and never cuts the query', async () => {
    answerOf(await call({ model: 'acme/cut' }));
    const { body } = setup.upstream.requests[0]!;
    expect(body).toMatchObject({ max_tokens_per_doc: 512, query: 'which one comes first' });
    expect(body).not.toHaveProperty('truncate_prompt_tokens');
    const refused = await call({ model: 'acme/vllm', truncate_prompt_tokens: 10 });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('truncate_prompt_tokens')]);
  });

  it('returns the words of a server whose context is too short for a document', async () => {
    setup.deeds.set('/vllm/v1/rerank', (_request, response) =>
      sendJson(response, 400, { message: 'maximum context length is 512 tokens', code: 400 }),
    );
    const response = await call({ model: 'acme/vllm' });
    expect([response.status, response.text]).toEqual([400, expect.stringContaining('512 tokens')]);
  });

  it('refuses a listwise call above its context, or of too many documents, before any request', async () => {
    const long = await call({ model: 'acme/listwise', documents: ['word '.repeat(200)] });
    const many = await call({ model: 'acme/listwise', documents: numbered(4) });
    expect([long.status, many.status]).toEqual([400, 413]);
    expect(setup.upstream.requests).toHaveLength(0);
  });

  it.each([
    ['documents', { documents: [] }],
    ['documents[1]', { documents: ['a', ''] }],
    ['documents', { documents: numbered(1001) }],
    ['documents[0]', { documents: [{}] }],
    ['documents[0].image', { documents: [{ image: 'file:///etc/passwd' }] }],
    ['documents', { documents: [{ image: 'https://example.com/a.png' }] }],
    ['query', { query: '' }],
    ['top_n', { top_n: 0 }],
    ['models', { models: [COHERE] }],
    ['model', { model: 'no-such-name' }],
  ])('returns 400 that names %s for %j', async (member, body) => {
    const response = await call(body);
    expect([response.status, response.text]).toEqual([400, expect.stringContaining(member)]);
    expect(setup.upstream.requests).toHaveLength(0);
  });

  it('returns all documents for a top_n above their number', async () => {
    expect(indexes(answerOf(await call({ top_n: 10, provider: ONLY_COHERE })))).toEqual([1, 0]);
  });

  it('leaves out endpoints whose search unit costs more than the bound of a request', async () => {
    const response = await call({ provider: { max_price: { request: 0.001 } } });
    expect(response.status).toBe(404);
  });

  it('refuses calls of limited keys to models without a price', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    expect((await call({ model: 'cohere/rerank-v4.0-pro' }, key.secret)).status).toBe(404);
    expect((await call({ model: 'cohere/rerank-v4.0-pro' })).status).toBe(200);
  });

  it('lists rerank models with their output modality and the price of a search unit', async () => {
    const response = await setup.app.http.get('/api/v1/models?output_modalities=rerank&q=rerank-v3.5');
    const { data } = response.body as { data: { id: string; architecture: object; pricing: object }[] };
    expect(data).toMatchObject([
      {
        id: COHERE,
        architecture: { output_modalities: ['rerank'] },
        pricing: { prompt: '0', request: '0.002' },
      },
    ]);
  });

  it('shows a generation of the kind rerank with its units and number of results', async () => {
    const { id } = answerOf(await call({ top_n: 1, provider: ONLY_COHERE }));
    const response = await setup.app.http
      .get(`/api/v1/generation?id=${id}`)
      .set('authorization', `Bearer ${setup.app.apiKey}`);
    expect((response.body as { data: object }).data).toMatchObject({
      api_type: 'rerank',
      search_units: 1,
      top_n: 1,
      usage_source: 'reported',
      total_cost: 0.002,
      catalogue_version: 0,
      price_effective_from: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
  });

  it('serves the official SDK of OpenRouter', async () => {
    const client = new OpenRouter({ apiKey: setup.app.apiKey, serverURL: setup.app.baseUrl });
    const answer = await client.rerank.rerank({
      requestBody: { model: COHERE, query: 'first', documents: ['0.5', { text: '0.9' }], topN: 1 },
    });
    expect(answer).toMatchObject({
      results: [{ index: 1, document: { text: '0.9' } }],
      usage: { searchUnits: 1 },
    });
  });
});
