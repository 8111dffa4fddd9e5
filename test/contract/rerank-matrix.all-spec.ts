// Every rerank provider against every promise of POST /rerank (docs/contract.md#rerank).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDeliveryApp, createDestination } from '../support/deliveries/deliveries.js';
import { traceCollector } from '../support/deliveries/trace-collector.js';
import { eventually } from '../support/eventually.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { ask, askFor } from '../support/requests/admin.js';
import { answerOf, rerank, startRerank, WIRES } from '../support/rerank/rerank-upstream.js';
import type { Deed, RerankSetup } from '../support/rerank/rerank-upstream.js';
import { sendJson } from '../support/upstreams/stub-upstream.js';

/** Own models with few documents a call: those that bill search units are split at multiples of 100. */
const UNIT_PROVIDERS: ReadonlySet<string> = new Set(['cohere', 'bedrock']);
const splitModel = (slug: string): string => `
  - id: acme/split-${slug}
    created_at: 2026-01-01
    context_length: 8192
    endpoints:
      - provider: ${slug}
        upstream_model: ${slug === 'deepinfra' ? 'Qwen/Qwen3-Reranker-0.6B' : 'some-model'}
        pointwise: true
        max_documents_per_call: ${UNIT_PROVIDERS.has(slug) ? 100 : 2}
        prices:
          - effective_from: 2026-01-01
            source: a test
            ${UNIT_PROVIDERS.has(slug) ? 'usd_per_search_unit: 0.002' : 'usd_per_million_tokens: { prompt: 1 }'}
        data_policy: { retains_prompts: false, trains: false }`;
/** Longer than the stub waits in one test, and shorter than all tests together. */
const TIMEOUT_MS = 500;

let setup: RerankSetup;
let receiver: RunningReceiver;
beforeAll(async () => {
  setup = await startRerank({
    environment: { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS) },
    models: WIRES.map(({ slug }) => splitModel(slug)).join(''),
    createApp: createDeliveryApp,
  });
  receiver = await startReceiver(traceCollector);
  await createDestination(setup.app, { url: receiver.origin });
});
afterEach(() => {
  setup.deeds.clear();
  setup.upstream.requests.length = 0;
});
afterAll(async () => {
  await setup.close();
  await receiver.close();
});

interface StoredCall {
  readonly id: string;
  readonly status: number;
  readonly cost: number;
  readonly isByok: boolean;
}

/** In the order of the calls. */
const callsOf = (keyId: string): Promise<StoredCall[]> =>
  setup.app.sql<StoredCall>(
    `SELECT id, status, cost::float8 AS cost, is_byok AS "isByok" FROM generations WHERE api_key_id = $1
     ORDER BY log_transaction, log_ordinal`,
    [keyId],
  );

/** The vendor's answer with other members. */
function altered(change: (body: Record<string, unknown>) => unknown): Deed {
  return (request, response, row) => {
    const results = (row.documents(request.body) as string[]).map((text, index) => ({
      index,
      score: parseFloat(text),
    }));
    sendJson(response, 200, change(row.answer(results, request.body) as Record<string, unknown>));
  };
}

/** The list of results in an answer of any wire. */
const LISTS = ['results', 'data', 'scores'];
function withList(body: unknown, change: (list: readonly unknown[]) => unknown): unknown {
  if (Array.isArray(body)) return change(body);
  const members = body as Record<string, unknown>;
  const name = LISTS.find((one) => one in members) ?? '';
  return { ...members, [name]: change(members[name] as readonly unknown[]) };
}

describe.each(WIRES.map((row) => [row.slug, row] as const))('rerank at %s', (slug, row) => {
  const { model, path, usage } = row;
  const call = (body: object = {}, key?: string) =>
    rerank(
      setup.app,
      {
        model,
        query: 'which one comes first',
        documents: ['0.2', '0.9', '0.5'],
        provider: { only: [slug] },
        ...body,
      },
      key,
    );
  const deed = (one: Deed): void => void setup.deeds.set(path, one);
  const indexes = ({ results }: ReturnType<typeof answerOf>) => results.map(({ index }) => index);

  it('sorts by score', async () => {
    const answer = answerOf(await call());
    expect(indexes(answer)).toEqual([1, 2, 0]);
    expect(answer.results.map((result) => result.relevance_score)).toEqual([0.9, 0.5, 0.2]);
  });

  it('cuts to top_n, whatever the server returns', async () => {
    expect(indexes(answerOf(await call({ top_n: 1 })))).toEqual([1]);
    expect(indexes(answerOf(await call({ top_n: 9 })))).toEqual([1, 2, 0]);
  });

  it('keeps the index of the request for equal documents, in its order', async () => {
    expect(indexes(answerOf(await call({ documents: ['0.5', '0.9', '0.5', '0.9'] })))).toEqual([1, 3, 0, 2]);
  });

  it("echoes the caller's own documents", async () => {
    deed(
      altered((body) =>
        withList(body, (list) =>
          list.map((item) =>
            typeof item === 'object'
              ? { ...item, document: { text: 'of another' }, text: 'of another' }
              : item,
          ),
        ),
      ),
    );
    const answer = answerOf(await call({ documents: ['0.2 low', { text: '0.9 best' }] }));
    expect(answer.results.map(({ document }) => document)).toEqual([
      { text: '0.9 best' },
      { text: '0.2 low' },
    ]);
  });

  it('charges its bill, once', async () => {
    const key = await setup.app.createKey();
    const answer = answerOf(await call({ documents: ['0.2 low', '0.9 best'], top_n: 1 }, key.secret));
    expect(answer.usage).toMatchObject(usage);
    expect(await callsOf(key.record.id)).toEqual([
      { id: expect.any(String), status: 200, cost: usage['cost'], isByok: false },
    ]);
  });

  it('counts what it bills where the answer has no usage, or one of another form', async () => {
    for (const other of [{}, { usage: { tokens: 'many' } }]) {
      deed(
        altered((body) => {
          if (Array.isArray(body)) return body;
          const { usage: _usage, meta: _meta, input_tokens: _tokens, ...rest } = body;
          return { ...rest, ...other };
        }),
      );
      const { usage: counted } = answerOf(await call());
      expect(counted['source']).toBe('counted');
      expect(counted['cost']).toBeGreaterThan(0);
    }
  });

  it('charges at most the bound of the documents', async () => {
    const bound = answerOf(await call()).usage['cost'] as number;
    deed(
      altered((body) =>
        Array.isArray(body)
          ? body
          : {
              ...body,
              usage: { total_tokens: 900_000_000 },
              input_tokens: 900_000_000,
              meta: { billed_units: { search_units: 9_000 } },
            },
      ),
    );
    const { cost } = answerOf(await call()).usage;
    expect(cost).toBeLessThan(1);
    expect(cost).toBeGreaterThanOrEqual(bound);
  });

  it('returns 402 and sends nothing for a key whose limit is below the bound', async () => {
    const key = await setup.app.createKey({ limit: 1n });
    expect((await call({}, key.secret)).status).toBe(402);
    expect(setup.upstream.requests).toEqual([]);
  });

  it('uses an own provider key, whose owner pays', async () => {
    const own = slug === 'bedrock' ? 'AKIDOWN:secret' : 'key';
    const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', '/byok', {
      body: { provider: slug, key: own },
    });
    const key = await setup.app.createKey();
    const answer = answerOf(await call({}, key.secret));
    await ask(setup.app, 'delete', `/byok/${data.id}`);
    expect(answer.usage).toMatchObject({ cost: 0, is_byok: true });
    expect(await callsOf(key.record.id)).toMatchObject([{ cost: 0, isByok: true }]);
    const { authorization = '' } = setup.upstream.requests[0]?.headers ?? {};
    expect(authorization).toContain(slug === 'bedrock' ? 'Credential=AKIDOWN/' : 'Bearer key');
  });

  it('splits more documents than a call of the endpoint takes, into one order and one bill', async () => {
    const isUnit = UNIT_PROVIDERS.has(slug);
    const count = isUnit ? 150 : 5;
    const documents = Array.from({ length: count }, (_none, index) => `0.${1000 + index}`);
    const key = await setup.app.createKey();
    const answer = answerOf(await call({ model: `acme/split-${slug}`, documents, top_n: 2 }, key.secret));
    expect(indexes(answer)).toEqual([count - 1, count - 2]);
    const sizes = setup.upstream.requests.map(({ body }) => (row.documents(body) as unknown[]).length);
    expect(sizes.toSorted((one, other) => one - other)).toEqual(isUnit ? [50, 100] : [1, 2, 2]);
    expect(await callsOf(key.record.id)).toHaveLength(1);
    if (isUnit) expect(answer.usage).toMatchObject({ search_units: 2, cost: 0.004 });
  });

  it('sends its trace to a destination', async () => {
    const key = await setup.app.createKey();
    answerOf(await call({}, key.secret));
    const [{ id } = { id: '' }] = await callsOf(key.record.id);
    await eventually(
      () => Promise.resolve(receiver.stored.includes(id)),
      (isDelivered) => isDelivered,
    );
  });

  it("returns 400 with the provider's words for what it refuses of the caller", async () => {
    deed((_request, response) =>
      sendJson(response, 400, { message: 'documents[1] is too long', error: 'documents[1] is too long' }),
    );
    const response = await call();
    expect([response.status, response.text]).toEqual([
      400,
      expect.stringContaining('documents[1] is too long'),
    ]);
  });

  it('returns 502 for an index that is out of range, repeated, or no number', async () => {
    const statuses: number[] = [];
    for (const change of [
      (list: readonly unknown[]) =>
        list.map((item) => (typeof item === 'object' ? { ...item, index: 7 } : 'x')),
      (list: readonly unknown[]) =>
        list.map((item) => (typeof item === 'object' ? { ...item, index: 0 } : null)),
      (list: readonly unknown[]) => (typeof list[0] === 'object' ? [{}] : [...list, 1]),
    ]) {
      deed(altered((body) => withList(body, change)));
      statuses.push((await call()).status);
    }
    expect(statuses).toEqual([502, 502, 502]);
  });

  it('returns 524 for a provider that does not answer in time', async () => {
    deed(() => undefined);
    expect((await call()).status).toBe(524);
  });

  it('returns 429 with the time to wait for a provider that wants a pause', async () => {
    deed((_request, response) => sendJson(response, 429, { message: 'slow down' }, { 'retry-after': '7' }));
    const response = await call();
    expect([response.status, response.headers['retry-after']]).toEqual([429, '7']);
  });

  // The last one: a refused credential rests.
  it('returns 502 without words of the provider for a refused credential', async () => {
    deed((_request, response) => sendJson(response, 401, { message: 'bad key sk-secret' }));
    const response = await call();
    expect(response.status).toBe(502);
    expect(response.text).not.toContain('sk-secret');
  });
});
