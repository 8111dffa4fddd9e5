// Content filters of embeddings: vectors and the cache of redacted texts, tokens, and the size of texts.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import type { TestApp } from '../../support/app/app.js';
import { createGovernedKey, errorOf, postAs } from '../../support/guardrails/governed.js';
import type { GovernedKey } from '../../support/guardrails/governed.js';
import { LOCAL, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';

const MAX_CHARACTERS = 4_000_000;

let setup: Setup;
let app: TestApp;
let key: GovernedKey;
beforeAll(async () => {
  setup = await startWithUpstream({ RATE_LIMIT_CHANGES_PER_MINUTE: '10000' });
  ({ app } = setup);
  key = await createGovernedKey(app, { content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
});
beforeEach(() => void (setup.upstream.requests.length = 0));
afterAll(() => setup?.close());

const embed = (input: unknown, model: string = SMALL, as: Pick<GovernedKey, 'secret'> = key) =>
  postAs(app, as, 'embeddings', { model, input }, { 'x-embedding-cache': 'on' });
const vectorOf = ({ text }: { readonly text: string }): unknown =>
  (JSON.parse(text) as { data: { embedding: unknown }[] }).data[0]?.embedding;

it('embeds the redacted text, says so, and serves another address from the cache (V19)', async () => {
  const first = await embed('write to ann@example.com');
  const second = await embed('write to bob@example.org');
  expect(
    [first, second].map(({ status, headers }) => [
      status,
      headers.get('x-guardrail'),
      headers.get('x-embedding-cache'),
    ]),
  ).toEqual([
    [200, 'redacted', 'miss'],
    [200, 'redacted', 'hit'],
  ]);
  expect(setup.upstream.requests.map(({ body }) => body['input'])).toEqual([['write to [EMAIL]']]);
  expect(vectorOf(second)).toEqual(vectorOf(first));
  const free = await app.createKey();
  const unguarded = await embed('write to [EMAIL]', SMALL, free);
  expect([unguarded.headers.get('x-guardrail'), unguarded.headers.get('x-embedding-cache')]).toEqual([
    null,
    'hit',
  ]);
  expect(vectorOf(unguarded)).toEqual(vectorOf(first));
});

it('refuses half a surrogate beside an escaped address in an input with 400, and sends nothing (V15)', async () => {
  const refused = await postAs(
    app,
    key,
    'embeddings',
    `{"model":"${SMALL}","input":["ann\\u0040example.com \\ud83d"]}`,
  );
  expect([refused.status, errorOf(refused).message]).toEqual([400, expect.stringContaining('input[0]')]);
  expect(setup.upstream.requests).toEqual([]);
});

it.each([
  ['a known', SMALL, encode('write to ann@example.com')],
  ['an unknown', LOCAL, [17, 4, 99]],
])('refuses tokens of %s tokenizer with 403, and sends nothing (V20)', async (_name, model, tokens) => {
  for (const input of [tokens, [tokens]]) {
    const refused = await embed(input, model);
    expect([refused.status, errorOf(refused).metadata]).toEqual([
      403,
      expect.objectContaining({ error_type: 'content_policy_violation', filter: 'reject_unscannable' }),
    ]);
  }
  expect(setup.upstream.requests).toEqual([]);
});

it('reads 4,000,000 characters of a call and refuses one more with 413 before it sends anything (V22)', async () => {
  const texts = (count: number): string[] => ['a'.repeat(count - 2_000_000), 'a'.repeat(2_000_000)];
  const refused = await embed(texts(MAX_CHARACTERS + 1));
  expect([refused.status, errorOf(refused).message]).toEqual([
    413,
    expect.stringContaining(`at most ${MAX_CHARACTERS} characters`),
  ]);
  expect(setup.upstream.requests).toEqual([]);
  const read = await embed(texts(MAX_CHARACTERS), LOCAL);
  expect(read.status).not.toBe(413);
});
