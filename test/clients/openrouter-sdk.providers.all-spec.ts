// The real client @openrouter/sdk through the whole service to every provider: it parses the vectors of the provider's
// stub, and reports a provider's failure as one of its own errors.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import type { CreateEmbeddingsRequestBody } from '@openrouter/sdk/models/operations';
import * as errors from '@openrouter/sdk/models/errors';
import { expectVectors, startAppWithEveryProvider } from '../support/app/every-provider-app.js';
import type { EveryProviderApp } from '../support/app/every-provider-app.js';
import type { StubFailure } from '../support/providers/provider-stub.js';
import { PROVIDER_ROWS } from '../support/providers/rows.js';
import { decode } from '../support/providers/vectors.js';

const TEXTS = ['one', 'two words', 'three more words'];
const TOKENS_OF_TEXTS = 6;
const PICTURE = { type: 'image_url', imageUrl: { url: 'data:image/png;base64,iVBORw0KGgo=' } } as const;

let setup: EveryProviderApp;
let client: OpenRouter;
beforeAll(async () => {
  setup = await startAppWithEveryProvider();
  client = new OpenRouter({
    apiKey: setup.app.apiKey,
    serverURL: setup.app.baseUrl,
    // The client's own retries would repeat a 5xx for up to an hour.
    retryConfig: { strategy: 'none' },
  });
});
afterAll(() => setup.close());

describe.each(PROVIDER_ROWS.map((row) => [row.label, row] as const))('%s', (_label, row) => {
  const { stub, dimensions, takesImages, takesTokens } = row;
  const ask = async (
    input: CreateEmbeddingsRequestBody['input'],
    members: Partial<CreateEmbeddingsRequestBody> = {},
  ) => {
    const answer = await client.embeddings.generate({
      // Another provider may serve the same model.
      requestBody: { model: row.id, input, provider: { only: [stub.slug] }, ...members },
    });
    // The type of an event stream is a text; embeddings have none.
    if (typeof answer === 'string') throw new Error('a text came');
    return { ...answer, vectors: answer.data.map(({ embedding }) => decode(embedding)) };
  };
  afterEach(() => setup.providers.stubOf(row).replyWith(null));

  it.each([undefined, 'float', 'base64'] as const)(
    'returns the vector of a text as %s',
    async (encodingFormat) => {
      const answer = await ask('three more words', encodingFormat === undefined ? {} : { encodingFormat });
      expectVectors(answer.vectors, row, ['three more words']);
      expect(typeof answer.data[0]?.embedding).toBe(encodingFormat === 'base64' ? 'string' : 'object');
    },
  );

  it('returns the vectors of texts in order, and counts the tokens', async () => {
    const { vectors, data, usage } = await ask(TEXTS);
    expectVectors(vectors, row, TEXTS);
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(usage?.totalTokens).toBe(usage?.promptTokens);
    if (row.usage !== 'none') expect(usage?.promptTokens).toBe(TOKENS_OF_TEXTS);
    else expect(usage?.promptTokens).toBeGreaterThan(0);
  });

  it('accepts an input type', async () => {
    const { prefix = '' } = row.inputTypes.search_query;
    const { vectors } = await ask(TEXTS, { inputType: 'search_query' });
    expectVectors(
      vectors,
      row,
      TEXTS.map((text) => prefix + text),
    );
  });

  if (dimensions !== null) {
    it('returns the requested width', async () => {
      expectVectors((await ask(TEXTS, { dimensions: 256 })).vectors, row, TEXTS, 256);
    });
  } else {
    it('rejects a width', async () => {
      await expect(ask(TEXTS, { dimensions: 256 })).rejects.toThrow(errors.BadRequestResponseError);
    });
  }

  if (takesTokens) {
    it('returns the vectors of token arrays', async () => {
      expectVectors((await ask([1, 2, 3])).vectors, row, [[1, 2, 3]]);
      expectVectors((await ask([[1, 2], [3]])).vectors, row, [[1, 2], [3]]);
    });
  } else {
    it('rejects token arrays', async () => {
      await expect(ask([[1, 2], [3]])).rejects.toThrow(errors.BadRequestResponseError);
    });
  }

  if (takesImages) {
    it('returns a vector for an image and one for a text', async () => {
      const { vectors } = await ask([{ content: [PICTURE] }, { content: [{ type: 'text', text: 'a cat' }] }]);
      expect(vectors.map(({ length }) => length)).toEqual([row.width, row.width]);
      expect(vectors[0]).not.toEqual(vectors[1]);
    });
  }

  it.each<[StubFailure, number, new (...given: never[]) => errors.OpenRouterError]>([
    ['invalid', 400, errors.BadRequestResponseError],
    ['broken', 502, errors.BadGatewayResponseError],
    ['rateLimited', 429, errors.TooManyRequestsResponseError],
    ['overloaded', 529, errors.ProviderOverloadedResponseError],
  ])('reports %s as %d', async (failure, statusCode, expected) => {
    setup.providers.stubOf(row).replyWith(stub.failures[failure]);
    const outcome = await ask('one').then(
      () => null,
      (error: unknown) => error,
    );
    expect(outcome).toBeInstanceOf(expected);
    expect(outcome).toMatchObject({ statusCode, error: { code: statusCode, message: expect.any(String) } });
  });
});
