// The real client openai 6, with its defaults, through the whole service to every provider: it decodes the vectors of
// the provider's stub, and reports a provider's failure as one of its own errors.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { BadRequestError, InternalServerError, RateLimitError } from 'openai';
import type { APIError } from 'openai';
import { expectVectors, startAppWithEveryProvider } from '../support/app/every-provider-app.js';
import type { EveryProviderApp } from '../support/app/every-provider-app.js';
import { PROVIDER_STUBS } from '../support/providers/index.js';
import type { StubFailure } from '../support/providers/provider-stub.js';
import { PROVIDER_ROWS } from '../support/providers/rows.js';

const TEXTS = ['one', 'two words', 'three more words'];
const TOKENS_OF_TEXTS = 6;

let setup: EveryProviderApp;
let client: OpenAI;
beforeAll(async () => {
  setup = await startAppWithEveryProvider();
  client = new OpenAI({ apiKey: setup.app.apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });
});
afterAll(() => setup.close());

it('has a row for every provider', () => {
  expect(new Set(PROVIDER_ROWS.map(({ stub }) => stub))).toEqual(new Set(PROVIDER_STUBS));
});

describe.each(PROVIDER_ROWS.map((row) => [row.label, row] as const))('%s', (_label, row) => {
  const { stub, dimensions, takesTokens, usage } = row;
  // Another provider may serve the same model.
  const ask = (input: OpenAI.EmbeddingCreateParams['input'], members: { dimensions?: number } = {}) => {
    const body = { model: row.id, input, provider: { only: [stub.slug] }, ...members };
    return client.embeddings.create(body);
  };
  const vectorsOf = ({ data }: OpenAI.CreateEmbeddingResponse) => data.map(({ embedding }) => embedding);
  afterEach(() => setup.providers.stubOf(row).replyWith(null));

  it('returns the vector of a text', async () => {
    const answer = await ask('three more words');
    expectVectors(vectorsOf(answer), row, ['three more words']);
    expect(answer).toMatchObject({
      object: 'list',
      model: row.id,
      data: [{ object: 'embedding', index: 0 }],
    });
  });

  it('returns the vectors of texts in order, and counts the tokens', async () => {
    const answer = await ask(TEXTS);
    expectVectors(vectorsOf(answer), row, TEXTS);
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    const { prompt_tokens: tokens, total_tokens: total } = answer.usage;
    expect(total).toBe(tokens);
    if (usage !== 'none') expect(tokens).toBe(TOKENS_OF_TEXTS);
    else expect(tokens).toBeGreaterThan(0);
  });

  if (dimensions !== null) {
    it('returns the requested width', async () => {
      expectVectors(vectorsOf(await ask(TEXTS, { dimensions: 256 })), row, TEXTS, 256);
    });
  } else {
    it('rejects a width', async () => {
      await expect(ask(TEXTS, { dimensions: 256 })).rejects.toThrow(BadRequestError);
    });
  }

  if (takesTokens) {
    it('returns the vectors of token arrays', async () => {
      expectVectors(vectorsOf(await ask([1, 2, 3])), row, [[1, 2, 3]]);
      expectVectors(vectorsOf(await ask([[1, 2], [3]])), row, [[1, 2], [3]]);
    });
  } else {
    it('rejects token arrays', async () => {
      await expect(ask([[1, 2], [3]])).rejects.toThrow(BadRequestError);
    });
  }

  it.each<[StubFailure, number, new (...given: never[]) => APIError]>([
    ['invalid', 400, BadRequestError],
    ['broken', 502, InternalServerError],
    ['rateLimited', 429, RateLimitError],
    ['overloaded', 529, InternalServerError],
  ])('reports %s as %d', async (failure, status, expected) => {
    setup.providers.stubOf(row).replyWith(stub.failures[failure]);
    const outcome = await ask('one').then(
      () => null,
      (error: unknown) => error,
    );
    expect(outcome).toBeInstanceOf(expected);
    expect(outcome).toMatchObject({ status, error: { code: status, message: expect.any(String) } });
  });
});
