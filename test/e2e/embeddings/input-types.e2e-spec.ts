// POST /embeddings with an input type at a self-hosted server: types that the operator's catalogue lists are sent.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { answerOf, embed } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

const MODEL = 'acme/types';
const CATALOGUE = `models:
  - id: ${MODEL}
    created_at: 2026-01-02
    native_dimensions: 3
    context_length: 100
    endpoints:
      - provider: openai-compatible
        upstream_model: types
        input_types: [search_query, search_document]
        max_inputs_per_call: 10
        max_tokens_per_input: 100
        prices: [{ effective_from: 2026-01-02, usd_per_million_tokens: 1, source: a test }]
        data_policy: { retains_prompts: false, trains: false }
`;
const ANSWER = { data: [{ index: 0, embedding: [1, 2, 3] }], usage: { prompt_tokens: 1, total_tokens: 1 } };

let upstream: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream((_request, response) => sendJson(response, 200, ANSWER));
  app = await withCatalogueFile(CATALOGUE, (file) =>
    createTestApp({ environment: { CATALOGUE_FILE: file, OPENAI_COMPATIBLE_BASE_URL: upstream.origin } }),
  );
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const ask = (inputType: string, requireParameters: boolean) =>
  embed(app, {
    model: MODEL,
    input: 'a text',
    input_type: inputType,
    provider: { require_parameters: requireParameters },
  });

it.each(['search_query', 'search_document', 'passage'])(
  'sends the listed input type %s',
  async (inputType) => {
    answerOf(await ask(inputType, true));
    expect(upstream.requests.at(-1)?.body).toMatchObject({ input_type: inputType });
  },
);

it('drops an unlisted input type, or finds no endpoint with require_parameters', async () => {
  answerOf(await ask('clustering', false));
  expect(upstream.requests.at(-1)?.body).not.toHaveProperty('input_type');
  expectError(await ask('clustering', true), 404);
});
