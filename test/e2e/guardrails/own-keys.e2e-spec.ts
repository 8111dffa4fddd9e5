// Guardrails of calls through own provider keys.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd, parseUsdPerMillion, usdToNumber } from '../../../src/domain/spend/money.js';
import { guardrailCounterId } from '../../../src/domain/guardrails/guardrail-counter.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { createGovernedKey, errorOf, postAs } from '../../support/guardrails/governed.js';
import { SMALL } from '../../support/requests/create-embedding.js';
import { createCredential, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

// The upstream reports 5 tokens for this text, as many as it has.
const BODY = { model: SMALL, input: 'one two three four five', dimensions: 2 };
const COST = parseUsdPerMillion('0.02') * 5n;
const OPENAI_KEY = 'own-key-for-openai';

let setup: ByokSetup;
let app: TestApp;
beforeAll(async () => {
  setup = await startWithKeys({ RATE_LIMIT_CHANGES_PER_MINUTE: '10000' });
  ({ app } = setup);
});
afterAll(() => setup?.close());

const embed = (key: { readonly secret: string }, members: object = {}) =>
  postAs(app, key, 'embeddings', { ...BODY, ...members });

it('uses no own key of a provider outside of its list, whatever the caller prefers (V7)', async () => {
  await createCredential(app, { provider: 'azure', apiKey: 'own-key-for-azure' });
  const free = await app.createKey();
  await eventually(
    () => embed(free, { provider: { only: ['azure'] } }),
    ({ status }) => status === 200,
  );
  expect(setup.takeKeys()).toContain('own-key-for-azure');
  const key = await createGovernedKey(app, { allowed_providers: ['openai'] });
  const refused = await embed(key, { provider: { only: ['azure'] } });
  expect([refused.status, errorOf(refused).metadata]).toEqual([
    404,
    expect.objectContaining({
      error_type: 'not_found',
      guardrails: [{ id: key.guardrail, name: 'Careful', scope: 'api_key' }],
      requested_providers: ['azure'],
    }),
  ]);
  expect(setup.takeKeys()).toEqual([]);
  expect((await embed(key)).status).toBe(200);
  expect(setup.takeKeys()).not.toContain('own-key-for-azure');
});

it('serves a used-up key by an own provider key, whose cost counts for the guardrail alone (V27)', async () => {
  await createCredential(app, { apiKey: OPENAI_KEY, isByokOnly: true });
  const calls = 3;
  const key = await createGovernedKey(
    app,
    {
      limit_usd: usdToNumber(COST * BigInt(calls)),
      reset_interval: 'daily',
      include_byok_in_budgets: true,
    },
    { limit: 0n, includeByokInLimit: false },
  );
  // The key of the test before must serve no call.
  const openai = { provider: { only: ['openai'] } };
  await eventually(
    () => embed(key, openai),
    ({ status }) => status === 200,
  );
  for (let call = 1; call < calls; call++) expect((await embed(key, openai)).status).toBe(200);
  expect(new Set(setup.takeKeys().slice(-calls))).toEqual(new Set([OPENAI_KEY]));
  const refused = await embed(key, openai);
  expect([refused.status, errorOf(refused).metadata]).toEqual([
    403,
    expect.objectContaining({ limit_source: 'guardrail' }),
  ]);
  const { workspaceId, id } = key.record;
  const [spend] = await app.sql<{ total: string; byok_total: string }>(
    'SELECT total, byok_total FROM key_spend WHERE api_key_id = $1',
    [id],
  );
  expect([parseUsd(spend!.total), parseUsd(spend!.byok_total)]).toEqual([0n, COST * BigInt(calls)]);
  const [counter] = await app.sql<{ daily: string; byok_daily: string }>(
    'SELECT * FROM guardrail_spend WHERE workspace_id = $1 AND id = $2',
    [workspaceId, guardrailCounterId(workspaceId, 'api_key', id)],
  );
  expect(parseUsd(counter!.daily) + parseUsd(counter!.byok_daily)).toBe(COST * BigInt(calls));
});
