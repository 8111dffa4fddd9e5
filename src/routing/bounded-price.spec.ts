// Which members of a body change the price of a call, at every provider, and which ones a call under a limit may
// have.
import { describe, expect, it } from '@jest/globals';
import { createEndpoint, createModel, createOwnCredential } from '../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { NO_LIMITS } from '../domain/spend/spend-limit.js';
import type { SpendLimits } from '../domain/spend/spend-limit.js';
import { EMBEDDING_PROVIDERS } from '../providers/index.js';
import { addedBytes } from './billed-members.js';
import { withBoundedPrice } from './bounded-price.js';
import type { EndpointTarget, OwnCredential } from './endpoint-target.js';

const DAY = '2026-11-18';
const PRICED = [{ effectiveFrom: '2026-01-01', perToken: 1n, source: 'test' }];
const LIMITED: SpendLimits = { isLimited: true, includesByok: false };
const LIMITED_WITH_BYOK: SpendLimits = { isLimited: true, includesByok: true };

type Members = Readonly<Record<string, unknown>>;

/** Members beside the inputs: free of charge, text of each input, or with another price. */
const MEMBERS: Readonly<
  Record<string, { readonly free: Members; readonly text: Members; readonly repriced: readonly Members[] }>
> = {
  local: { free: {}, text: { note: 'x' }, repriced: [] },
  openai: { free: {}, text: { note: 'x' }, repriced: [{ service_tier: 'priority' }] },
  azure: { free: {}, text: { note: 'x' }, repriced: [{ service_tier: 'auto' }] },
  cohere: {
    free: { truncate: 'END', max_tokens: 100, priority: 1 },
    text: { note: 'x' },
    repriced: [{ images: ['data:image/png;base64,AA=='] }, { inputs: [] }],
  },
  voyage: { free: { truncation: true }, text: { note: 'x' }, repriced: [] },
  mistral: { free: { metadata: { team: 'a' } }, text: { note: 'x' }, repriced: [] },
  google: {
    free: { autoTruncate: true },
    text: { title: 'A title' },
    repriced: [
      { audioTrackExtraction: true },
      { embedContentConfig: { documentOcr: true } },
      { embed_content_config: { audio_track_extraction: true } },
    ],
  },
  jina: {
    free: { late_chunking: true, truncate: true, normalized: false },
    text: { note: 'x' },
    repriced: [],
  },
  together: { free: {}, text: { note: 'x' }, repriced: [] },
  deepinfra: {
    free: { normalize: true },
    text: { custom_instruction: 'Find' },
    repriced: [{ service_tier: 'priority' }],
  },
  nomic: { free: {}, text: { note: 'x' }, repriced: [{ long_text_mode: 'mean' }] },
  bedrock: { free: { normalize: true, truncate: 'END' }, text: { note: 'x' }, repriced: [{ images: [] }] },
  ollama: {
    free: { truncate: true, keep_alive: '1h' },
    text: { note: 'x' },
    repriced: [{ options: { num_ctx: 1 } }],
  },
  tei: { free: { truncate: true, normalize: true }, text: { note: 'x' }, repriced: [] },
  vllm: {
    free: { truncate_prompt_tokens: 5, embed_dtype: 'float32' },
    text: { note: 'x' },
    repriced: [{ messages: [] }, { chat_template: '{{ messages }}' }, { mm_processor_kwargs: {} }],
  },
  'openai-compatible': { free: {}, text: { instruction: 'Find' }, repriced: [{ service_tier: 'flex' }] },
};

function membersOf(slug: string): readonly string[] {
  const { free = {}, text = {}, repriced = [] } = MEMBERS[slug] ?? {};
  return ['note', ...[free, text, ...repriced].flatMap((members) => Object.keys(members))];
}

function providerOf(slug: string) {
  const provider = EMBEDDING_PROVIDERS.find((one) => one.slug === slug);
  if (!provider) throw new Error(`no provider ${slug}`);
  return provider;
}

function target(
  slug: string,
  endpoint: Partial<ModelEndpoint> = {},
  credential: OwnCredential | null = null,
): { readonly target: EndpointTarget } {
  const served = createEndpoint({
    provider: slug,
    prices: PRICED,
    // Members that a server does not get are neither billed nor refused.
    allowedMembers: membersOf(slug),
    ...endpoint,
  });
  return {
    target: { model: createModel([served]), endpoint: served, provider: providerOf(slug), credential },
  };
}

const request = (extra: Members = {}): EmbeddingRequest => ({
  model: 'vendor/model',
  input: { form: 'texts', items: ['hello'] },
  encodingFormat: 'float',
  extra,
});

const leave = (
  candidates: readonly { readonly target: EndpointTarget }[],
  extra: Members = {},
  limits = LIMITED,
) => withBoundedPrice(candidates, request(extra), limits, DAY);

it('the table covers every provider', () => {
  expect(Object.keys(MEMBERS).toSorted()).toEqual(EMBEDDING_PROVIDERS.map(({ slug }) => slug).toSorted());
});

describe.each(Object.entries(MEMBERS))('a call to %s', (slug, { free, text, repriced }) => {
  const shared = target(slug);
  const provider = providerOf(slug);
  const added = (extra: Members) => addedBytes(shared.target, { extra, inputType: undefined });
  const name = provider.name.replaceAll(/[()]/g, '.');

  it('counts no bytes for settings, and the JSON of any other member', () => {
    expect(added(free)).toBe(added({}));
    expect(added(text)).toBe(added({}) + JSON.stringify(text).length);
    // A text counts in its normal form where that has more bytes.
    expect(added({ note: '\ufdfa' })).toBeGreaterThan(added({}) + '{"note":"\ufdfa"}'.length + 25);
    expect(leave([shared], { ...free, ...text })).toEqual([shared]);
  });

  it('is rejected under a limit when a member changes its price, and the error names the member', () => {
    for (const extra of repriced) {
      const [member = ''] = Object.keys(extra);
      expect(() => leave([shared], extra)).toThrow(
        new RegExp(`: ${member}[\\w.]*: changes what ${name} charges`),
      );
      // Null counts as absent.
      expect(leave([shared], { [member]: null })).toEqual([shared]);
    }
  });

  it('may have such a member without a limit, free of charge, or through an own key that counts nowhere', () => {
    const own = target(slug, {}, createOwnCredential(0));
    const freeOfCharge = target(slug, { prices: [{ ...PRICED[0]!, perToken: 0n }] });
    for (const extra of repriced) {
      expect(leave([shared], extra, NO_LIMITS)).toEqual([shared]);
      expect(leave([own], extra)).toEqual([own]);
      expect(leave([freeOfCharge], extra)).toEqual([freeOfCharge]);
      expect(() => leave([own], extra, LIMITED_WITH_BYOK)).toThrow(/changes what/);
      // An endpoint without the member's price change remains.
      expect(leave([shared, own], extra)).toEqual([own]);
    }
  });
});

describe('a member that a server does not get', () => {
  it.each([
    ['vllm', { chat_template: 'x', priority: 1 }],
    ['ollama', { options: {}, keep_alive: '1h' }],
    ['tei', { note: 'x' }],
    ['openai-compatible', { service_tier: 'flex', note: 'x' }],
  ])('costs nothing at %s and changes no price: %j', (slug, extra) => {
    const closed = target(slug, { allowedMembers: [] });
    expect(addedBytes(closed.target, { extra, inputType: undefined })).toBe(0);
    expect(leave([closed], extra)).toEqual([closed]);
  });
});

describe('a value at the listed price', () => {
  it.each([
    ['deepinfra', { service_tier: 'default' }],
    ['nomic', { long_text_mode: 'truncate' }],
    ['google', { embedContentConfig: { documentOcr: false } }],
  ])('of %s is accepted: %j', (slug, extra) => {
    const shared = target(slug);
    expect(leave([shared], extra)).toEqual([shared]);
  });
});

describe('the prompt before an input', () => {
  it.each<[string, Partial<EmbeddingRequest>, number]>([
    // The longest prompt that this service writes itself.
    ['google', { inputType: 'search_query' }, 'task: sentence similarity | query: '.length],
    [
      'voyage',
      { inputType: 'search_query' },
      'Represent the query for retrieving supporting documents: '.length,
    ],
    ['nomic', {}, 'search_document: '.length],
    ['tei', { extra: { prompt_name: 'query' } }, 100],
  ])('of %s is counted: %j', (slug, settings, bytes) => {
    expect(addedBytes(target(slug).target, { ...request(), ...settings })).toBeGreaterThanOrEqual(bytes);
  });

  it('is not counted where there is none', () => {
    for (const slug of ['openai', 'google', 'voyage', 'tei'])
      expect(addedBytes(target(slug).target, request())).toBe(0);
  });
});

describe('an endpoint without a known price', () => {
  const shared = target('openai', { prices: [] });
  const own = target('openai', { prices: [] }, createOwnCredential(0));
  const priced = target('azure');

  it('is left out of the route of a call under a limit, and own keys are not', () => {
    expect(leave([own, shared, priced])).toEqual([own, priced]);
    expect(leave([own, shared], {}, LIMITED_WITH_BYOK)).toEqual([own]);
    expect(leave([own, shared, priced], {}, NO_LIMITS)).toEqual([own, shared, priced]);
  });

  it('is named as the reason when no other is left: 404, which more credits or a higher limit cannot change', () => {
    expect(() => leave([shared])).toThrow(
      expect.objectContaining({
        status: 404,
        message: expect.stringMatching(/no endpoint of vendor\/model has a known price for this input/),
      }),
    );
  });

  it('is one whose price for the modality of an input is unknown', () => {
    const reading = target('google', { modalityPrices: { file: [] } });
    const file = { type: 'input_file', input_file: { data: 'data:application/pdf;base64,AA==' } };
    const call: EmbeddingRequest = {
      ...request(),
      input: { form: 'multimodal', items: [{ content: [file] }] },
    };
    expect(() => withBoundedPrice([reading], call, LIMITED, DAY)).toThrow(/known price/);
    expect(leave([reading])).toEqual([reading]);
  });
});
