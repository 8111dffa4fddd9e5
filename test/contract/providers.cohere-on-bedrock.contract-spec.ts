// Differences of Cohere's models on Bedrock: the maximum length of texts, and truncation of longer ones.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bedrock } from '../../src/providers/bedrock.js';
import { cohere } from '../../src/providers/cohere.js';
import { UnsupportedRequest } from '../../src/providers/shared/provider.js';
import type { ProviderCall, ProviderConnection } from '../../src/providers/shared/provider.js';
import { callOf, embed, stubOf } from '../support/providers/drive.js';
import type { RunningProviderStub } from '../support/providers/provider-stub.js';

let running: RunningProviderStub;
let connection: ProviderConnection;
beforeAll(async () => {
  const stub = stubOf('bedrock');
  running = await stub.start();
  connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
});
afterAll(() => running.close());

const V3 = 'cohere.embed-english-v3';
const PAIR = '\u{1f600}';
const ofTexts = (model: string, ...items: string[]): ProviderCall =>
  callOf(model, { input: { form: 'texts', items } });

it.each([
  [V3, 'END'],
  ['eu.cohere.embed-multilingual-v3', 'END'],
  ['us.cohere.embed-v4:0', 'RIGHT'],
])(
  '%s truncates texts at their %s, as at Cohere, unless the caller chooses otherwise',
  async (model, end) => {
    const truncateOf = async (extra: ProviderCall['extra']): Promise<unknown> => {
      const { body } = await bedrock.buildRequest(callOf(model, { extra }), connection);
      return (JSON.parse(body) as Record<string, unknown>)['truncate'];
    };
    expect(await truncateOf({})).toBe(end);
    expect(await truncateOf({ truncate: 'NONE' })).toBe('NONE');
  },
);

// A call may reach either API, whichever words its caller uses.
it.each([
  [V3, 'END', 'END'],
  [V3, 'LEFT', 'START'],
  ['us.cohere.embed-v4:0', 'END', 'RIGHT'],
  ['us.cohere.embed-v4:0', 'START', 'LEFT'],
  ['us.cohere.embed-v4:0', 'LEFT', 'LEFT'],
])('%s gets the truncation %s as %s', async (model, asked, sent) => {
  const { body } = await bedrock.buildRequest(callOf(model, { extra: { truncate: asked } }), connection);
  expect(JSON.parse(body)).toMatchObject({ truncate: sent });
});

it.each([
  ['RIGHT', 'END'],
  ['LEFT', 'START'],
  ['NONE', 'NONE'],
])("Cohere's own API gets the truncation %s as %s", async (asked, sent) => {
  const { body } = await cohere.buildRequest(
    callOf('embed-v4.0', { extra: { truncate: asked } }),
    connection,
  );
  expect(JSON.parse(body)).toMatchObject({ truncate: sent });
});

it.each([
  [V3, 'priority'],
  [V3, 'max_tokens'],
  ['us.cohere.embed-v4:0', 'priority'],
])('%s is not asked with %s, which its body on Bedrock lacks', (model, name) => {
  expect(() => bedrock.buildRequest(callOf(model, { extra: { [name]: 1 } }), connection)).toThrow(
    new UnsupportedRequest(name, `${model} takes none on Bedrock`),
  );
});

const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';

it.each([
  ['titan-embed-text', ['inputText']],
  ['cohere-embed-v3', ['embedding_types', 'input_type', 'texts', 'truncate']],
  ['cohere-embed-v4', ['embedding_types', 'input_type', 'texts', 'truncate']],
])('an inference profile with an opaque id has the body of its family: %s', async (family, members) => {
  const call = { ...ofTexts(PROFILE, 'one'), family };
  const { url, body } = await bedrock.buildRequest(call, connection);
  expect(url).toBe(`${running.baseUrl}/model/${encodeURIComponent(PROFILE)}/invoke`);
  expect(Object.keys(JSON.parse(body) as object).toSorted()).toEqual(members);
});

it('the family of a profile is not guessed', () => {
  const names = [PROFILE, 'amazon.titan-embed-text-v2:0', V3, 'us.cohere.embed-v4:0'];
  expect(names.map((name) => bedrock.families?.of(name))).toEqual([
    null,
    'titan-embed-text',
    'cohere-embed-v3',
    'cohere-embed-v4',
  ]);
});

it('v3 receives the longest texts that Bedrock accepts', async () => {
  const answer = await embed(bedrock, ofTexts(V3, 'a'.repeat(2048), PAIR.repeat(2048)), connection);
  expect(answer.vectors).toHaveLength(2);
});

it.each([['a'.repeat(2049)], [`${PAIR.repeat(2048)}a`], ['a'.repeat(5000)]])(
  'v3 receives no texts that Bedrock rejects: %#',
  (text) => {
    expect(() => bedrock.buildRequest(ofTexts(V3, 'a', text), connection)).toThrow(
      new UnsupportedRequest(
        { index: 1, path: '' },
        'cohere.embed-english-v3 takes at most 2048 characters on Bedrock',
      ),
    );
  },
);

it('v3 receives images, and no long texts beside them', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } };
  const withText = (text: string): ProviderCall =>
    callOf(V3, { input: { form: 'multimodal', items: [{ content: [image, { type: 'text', text }] }] } });
  expect(() => bedrock.buildRequest(withText('a'), connection)).not.toThrow();
  expect(() => bedrock.buildRequest(withText('a'.repeat(2049)), connection)).toThrow(
    new UnsupportedRequest(
      { index: 0, path: '.content[1]' },
      'cohere.embed-english-v3 takes at most 2048 characters on Bedrock',
    ),
  );
});

it('v4 receives texts of any length', async () => {
  const answer = await embed(bedrock, ofTexts('cohere.embed-v4:0', 'a'.repeat(5000)), connection);
  expect(answer.vectors).toHaveLength(1);
});
