import { describe, expect, it } from '@jest/globals';
import type { ChatEndpoint, ChatModel } from '../../domain/chat/chat-model.js';
import { readOver } from '../../../test/support/catalogue/catalogue-texts.js';
import { CatalogueError } from './cursor.js';

const ENDPOINT: ChatEndpoint = {
  provider: 'one',
  upstreamModel: 'shipped-1',
  contextLength: 8192,
  maxOutputTokens: 4096,
  supportedParameters: ['tools'],
  inputModalities: ['text', 'image'],
  reasoningEfforts: ['low', 'high'],
  isReasoning: true,
  hidesReasoning: true,
  prices: [{ effectiveFrom: '2025-01-01', prompt: 1n, completion: 2n, source: 'list' }],
  quantization: null,
  dataPolicy: { retainsPrompts: true, trains: false },
};
const SHIPPED: ChatModel = {
  id: 'vendor/shipped',
  name: 'Shipped',
  description: 'As it comes.',
  createdAt: '2025-01-01',
  contextLength: 8192,
  tokenizer: 'o200k',
  endpoints: [ENDPOINT],
};
const PLAIN =
  'provider: two, upstream_model: m, prices: [], data_policy: {retains_prompts: false, trains: false}';

const read = (text: string): readonly ChatModel[] =>
  readOver({ chatModels: [SHIPPED] }, text, {
    chatWires: new Map(['one', 'two', 'local'].map((slug) => [slug, ['chat', 'responses']] as const)),
  }).chatModels;
const added = (members: string): ChatEndpoint =>
  read(
    `chat_models: [{id: acme/new, created_at: 2026-01-02, context_length: 1000, endpoints: [{${PLAIN}, ${members}}]}]`,
  ).find(({ id }) => id === 'acme/new')!.endpoints[0]!;
const problem = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error('the file was read');
};

describe('the price of a thousand searches', () => {
  const row = (more: string) =>
    `[{effective_from: 2026-01-01, source: x, usd_per_million_tokens: {prompt: 1, completion: 1}, ${more}}]`;
  const layer = (more: string) =>
    `chat_models: [{id: acme/new, created_at: 2026-01-02, context_length: 1000, endpoints: [{${PLAIN.replace('[]', row(more))}}]}]`;

  it('is that of one in the unit of money', () => {
    const model = read(layer('usd_per_thousand_searches: 10.5')).find(({ id }) => id === 'acme/new');
    expect(model?.endpoints[0]?.prices[0]?.webSearch).toBe(10_500_000_000n);
  });

  it.each([
    ['usd_per_thousand_searches: 0.0000000001', 'must have at most 9 decimal places'],
    [
      'usd_per_thousand_searches: 10, tiers: [{min_prompt_tokens: 5, usd_per_million_tokens: {prompt: 2}}]',
      'usd_per_thousand_searches cannot stand beside tiers with min_prompt_tokens',
    ],
  ])('is refused with %s', (more, rule) => {
    expect(problem(layer(more))).toContain(rule);
  });
});

describe('a chat model of the file', () => {
  it('needs little', () => {
    expect(added('quantization: null')).toMatchObject({
      contextLength: 1000,
      inputModalities: ['text'],
      reasoningEfforts: [],
      isReasoning: false,
      prices: [],
    });
  });

  it('states every price that the defaults of its provider need (G33)', () => {
    const text = (prices: string): string =>
      'defaults: { chat_models: { two: { needs: [cache_read, cache_write, cache_write_1h] } } }\n' +
      'chat_models: [{id: acme/new, created_at: 2026-01-02, context_length: 1000, endpoints: [{' +
      PLAIN.replace(
        'prices: []',
        `prices: [{effective_from: 2026-01-02, source: x, usd_per_million_tokens: {${prices}}}]`,
      ) +
      '}]}]';
    const five = 'prompt: 3, completion: 15, cache_read: 0.3, cache_write: 3.75';
    expect(problem(text(five))).toContain(
      'prices[0]: usd_per_million_tokens must have cache_write_1h: the endpoint needs it',
    );
    const [endpoint] = read(text(`${five}, cache_write_1h: 6`)).at(-1)!.endpoints;
    expect(endpoint?.prices[0]).toMatchObject({ cacheWrite: 3_750_000n, cacheWrite1h: 6_000_000n });
    expect(endpoint?.needs).toEqual(['cacheRead', 'cacheWrite', 'cacheWrite1h']);
  });

  it('states the prices that the defaults need for an endpoint that it only changes', () => {
    const row =
      '{effective_from: 2026-01-02, source: x, usd_per_million_tokens: {prompt: 3, completion: 15}}';
    expect(
      problem(
        'defaults: { chat_models: { one: { needs: [cache_write] } } }\n' +
          `chat_models: [{id: vendor/shipped, endpoints: [{provider: one, prices: [${row}]}]}]`,
      ),
    ).toContain('usd_per_million_tokens must have cache_write: the endpoint needs it');
  });

  it('refuses tools without reasoning where it cannot be switched off and Chat is the only wire', () => {
    expect(added('tools_only_without_reasoning: true, reasoning_efforts: [none, low]')).toMatchObject({
      toolsOnlyWithoutReasoning: true,
    });
    expect(() => added('tools_only_without_reasoning: true, reasoning_efforts: [low]')).toThrow(
      'tools_only_without_reasoning: needs none among the reasoning_efforts, or another wire than chat',
    );
    expect(
      added('tools_only_without_reasoning: true, reasoning_efforts: [low], wires: [responses, chat]'),
    ).toMatchObject({ toolsOnlyWithoutReasoning: true, wires: ['responses', 'chat'] });
    expect(added('custom_tools: false')).toMatchObject({ wire: { customTools: false } });
  });

  it('states the peculiarities of its server', () => {
    expect(
      added(
        'output_limit: max_completion_tokens, stream_usage: none, reasoning_member: reasoning, cancellation: runs_on, allowed_members: [min_tokens, messages.content.uuid]',
      ),
    ).toMatchObject({
      wire: { outputLimit: 'max_completion_tokens', streamUsage: 'none', reasoningMember: 'reasoning' },
      cancellation: 'runs_on',
      allowedMembers: ['min_tokens', 'messages.content.uuid'],
    });
  });

  it('may state the schema of earlier builds where it changes nothing', () => {
    expect(added('schema: closed')).toEqual(added('quantization: null'));
    expect(
      problem(`chat_models:
  - id: vendor/shipped
    endpoints:
      - provider: one
        schema: open
`),
    ).toMatch(
      /schema: open is gone: remove this member, and list the members that the server may get in allowed_members$/,
    );
  });

  it('puts lists of parameters together', () => {
    expect(added('supported_parameters: [[tools, seed], stop, [seed, [n]]]').supportedParameters).toEqual([
      'tools',
      'seed',
      'stop',
      'n',
    ]);
  });

  it('has typical tokens and bounds of images', () => {
    expect(
      added('tokens_per_image: { low: 10, high: 20 }, max_tokens_per_image: { low: 30, high: 40 }'),
    ).toMatchObject({
      tokensPerImage: { low: 10, high: 20 },
      maxTokensPerImage: { low: 30, high: 40 },
    });
  });

  it('orders its efforts and reasons when it has any', () => {
    expect(added('reasoning_efforts: [high, none, low]')).toMatchObject({
      reasoningEfforts: ['none', 'low', 'high'],
      isReasoning: true,
    });
  });

  it('has prices with tiers and service tiers', () => {
    const [row] = read(`chat_models:
  - id: vendor/shipped
    endpoints:
      - provider: one
        prices:
          - effective_from: 2026-01-01
            source: a page
            usd_per_million_tokens: { prompt: 0.4, completion: 1.6, cache_read: 0.1, cache_write_1h: 0.8 }
            usd_per_image: 0.001
            tiers:
              - { min_prompt_tokens: 200000, usd_per_million_tokens: { prompt: 0.8 } }
              - { utc_start: "16:30", utc_end: "00:30", usd_per_million_tokens: { completion: 0.9 } }
            service_tiers:
              flex: { usd_per_million_tokens: { prompt: 0.2, completion: 0.8 } }
`)[0]!.endpoints[0]!.prices;
    expect(row).toEqual({
      effectiveFrom: '2026-01-01',
      source: 'a page',
      prompt: 400_000n,
      completion: 1_600_000n,
      cacheRead: 100_000n,
      cacheWrite1h: 800_000n,
      image: 1_000_000_000n,
      tiers: [
        { minPromptTokens: 200_000, prompt: 800_000n },
        { utcStart: 990, utcEnd: 30, completion: 900_000n },
      ],
      serviceTiers: { flex: { prompt: 200_000n, completion: 800_000n } },
    });
  });

  it('keeps the shipped members that the file does not name', () => {
    const [model] = read(
      'chat_models: [{ id: vendor/shipped, endpoints: [{ provider: one, max_output_tokens: 100 }] }]',
    );
    expect(model).toEqual({ ...SHIPPED, endpoints: [{ ...ENDPOINT, maxOutputTokens: 100 }] });
  });
});

describe('the reader rejects', () => {
  const model = (endpoint: string): string =>
    `chat_models: [{id: acme/new, created_at: 2026-01-02, context_length: 1000, endpoints: [{${endpoint}}]}]`;

  it.each([
    [
      'an embedding provider',
      model(PLAIN.replace('two', 'three')),
      'endpoints[0].provider: must be one of one, two, local',
    ],
    ['the embedded provider', model(PLAIN.replace('two', 'local')), 'local serves its own model only'],
    [
      'an output above the context',
      model(`${PLAIN}, max_output_tokens: 1001`),
      'must be a whole number from 1 to 1000',
    ],
    [
      'an unknown effort',
      model(`${PLAIN}, reasoning_efforts: [huge]`),
      'reasoning_efforts[0]: must be one of none,',
    ],
    ['an unknown modality', model(`${PLAIN}, input_modalities: [smell]`), 'must be one of text, image,'],
    [
      'an unknown word for usage',
      model(`${PLAIN}, stream_usage: maybe`),
      'must be one of ask, unasked, none',
    ],
    [
      'half a price',
      model(
        PLAIN.replace('[]', '[{effective_from: 2026-01-01, source: x, usd_per_million_tokens: {prompt: 1}}]'),
      ),
      'usd_per_million_tokens must have prompt and completion',
    ],
    [
      'a tier that always applies',
      model(
        PLAIN.replace(
          '[]',
          '[{effective_from: 2026-01-01, source: x, usd_per_million_tokens: {prompt: 1, completion: 1}, tiers: [{usd_per_image: 1}]}]',
        ),
      ),
      'must have min_prompt_tokens, utc_start or utc_end',
    ],
    [
      'a time without quotes',
      model(
        PLAIN.replace(
          '[]',
          '[{effective_from: 2026-01-01, source: x, usd_per_million_tokens: {prompt: 1, completion: 1}, tiers: [{utc_start: 25}]}]',
        ),
      ),
      'must be a time of the form "HH:MM", in quotes',
    ],
    [
      'a member of embedding endpoints',
      model(`${PLAIN}, takes_dimensions: true`),
      'takes_dimensions: is not known here',
    ],
  ])('%s', (_name, text, message) => {
    expect(problem(text)).toContain(message);
    expect(problem(text)).toMatch(/^catalogue\.yaml:\d+: [^\n]*$/);
  });

  it('one name of an embedding model and a chat model', () => {
    const both = `models:
  - id: acme/new
    created_at: 2026-01-02
    native_dimensions: 8
    context_length: 100
    endpoints:
      - {provider: one, upstream_model: m, max_inputs_per_call: 1, max_tokens_per_input: 9, prices: [], data_policy: {retains_prompts: false, trains: false}}
${model(PLAIN)}`;
    expect(problem(both)).toContain('acme/new names a chat model and an embedding model');
  });
});
