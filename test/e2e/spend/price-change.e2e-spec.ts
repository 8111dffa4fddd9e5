// A price that rises while a call waits for money: the call costs its reservation, in the windows of the new day.
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { answerOf, embed, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';

const MODEL = 'acme/rising';
const CATALOGUE = `models:
  - id: ${MODEL}
    created_at: 2026-01-02
    native_dimensions: 1536
    context_length: 8192
    endpoints:
      - provider: openai
        upstream_model: text-embedding-3-small
        input_forms: [texts, tokens]
        modalities: [text]
        max_inputs_per_call: 100
        max_tokens_per_input: 1000
        prices:
          - { effective_from: 2026-01-02, usd_per_million_tokens: 0.10, source: a test }
          - { effective_from: 2026-11-19, usd_per_million_tokens: 0.50, source: a test }
        data_policy: { retains_prompts: false, trains: false }
`;
// The upstream reports 5 tokens for every input.
const INPUT = [1, 2, 3, 4, 5];
const OLD_COST = parseUsdPerMillion('0.10') * BigInt(INPUT.length);
const NEW_COST = parseUsdPerMillion('0.50') * BigInt(INPUT.length);
const BEFORE = '2026-11-18T23:59:59.999Z';
const AFTER = '2026-11-19T00:00:00.000Z';

let setup: Setup;
beforeAll(async () => {
  setup = await withCatalogueFile(CATALOGUE, (file) => startWithUpstream({ CATALOGUE_FILE: file }));
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => setup.close());

it('charges a call that was waiting what was reserved', async () => {
  const { app } = setup;
  app.clock.set(BEFORE);
  const { secret, record } = await app.createKey({ limit: OLD_COST, limitReset: 'daily' });
  const limiter = app.application.get(SpendLimiter);
  const reserve = limiter.reserve.bind(limiter);
  jest.spyOn(limiter, 'reserve').mockImplementationOnce(async (key, bounds) => {
    app.clock.set(AFTER);
    return reserve(key, bounds);
  });
  answerOf(await embed(app, { model: MODEL, input: INPUT }, secret));
  const [row] = await app.sql(
    `SELECT created_at, cost, daily, last_day::text FROM generations JOIN key_spend USING (api_key_id)
     WHERE api_key_id = $1`,
    [record.id],
  );
  expect(row).toMatchObject({ created_at: new Date(AFTER), last_day: '2026-11-19' });
  expect([parseUsd(row!['cost'] as string), parseUsd(row!['daily'] as string)]).toEqual([OLD_COST, OLD_COST]);
});

it('applies to later calls', async () => {
  const { app } = setup;
  app.clock.set(AFTER);
  const { secret } = await app.createKey({ limit: NEW_COST - 1n });
  expect((await embed(app, { model: MODEL, input: INPUT }, secret)).status).toBe(402);
  const { secret: other, record } = await app.createKey({ limit: NEW_COST });
  answerOf(await embed(app, { model: MODEL, input: INPUT }, other));
  const [row] = await app.sql('SELECT cost FROM generations WHERE api_key_id = $1', [record.id]);
  expect(parseUsd(row!['cost'] as string)).toBe(NEW_COST);
});
