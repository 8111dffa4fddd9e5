// Stored rows over the shipped catalogue: all kinds of models alike.
import { expect, it } from '@jest/globals';
import { KINDS } from '../../src/catalogue/reader/kinds.js';
import type { AnyModel, Kind } from '../../src/catalogue/reader/kinds.js';
import type { StoredEntry } from '../../src/catalogue/stored-entry.js';
import type { ChatModel } from '../../src/domain/chat/chat-model.js';
import { CatalogueSource } from '../../src/routing/catalogue-source.js';
import { TestClock } from '../support/app/clock.js';

type Change = readonly [kind: Kind, id: string, document: object | null];

const ROW = { effective_from: '2026-01-01', source: 'a test' };
const HEAD = { created_at: '2026-01-01', context_length: 4096 };
const ADDED: Readonly<Record<Kind, object>> = {
  models: {
    ...HEAD,
    native_dimensions: 8,
    endpoints: [{ provider: 'openai', upstream_model: 'e', prices: [{ ...ROW, usd_per_million_tokens: 1 }] }],
  },
  chat_models: {
    ...HEAD,
    endpoints: [
      {
        provider: 'openai',
        upstream_model: 'c',
        prices: [{ ...ROW, usd_per_million_tokens: { prompt: 1, completion: 2 } }],
      },
    ],
  },
  rerank_models: {
    ...HEAD,
    endpoints: [
      { provider: 'cohere', upstream_model: 'r', prices: [{ ...ROW, usd_per_search_unit: 0.002 }] },
    ],
  },
  moving_aliases: { targets: [{ ...ROW, target: 'openai/gpt-5.5' }] },
  unlisted: {
    provider: 'openai',
    match: ['gpt-*'],
    context_length: 4096,
    prices: [{ ...ROW, usd_per_million_tokens: { prompt: 30, completion: 180 } }],
  },
};
/** The lists of models: the others have ids that no model can have. */
const MODEL_KINDS = KINDS.filter((kind) => kind !== 'moving_aliases' && kind !== 'unlisted');

const shipped = (): CatalogueSource => new CatalogueSource(undefined, new TestClock());
const idsIn = (source: CatalogueSource, kind: Kind): string[] => source.list(kind).map(({ id }) => id);
const firstOf = (source: CatalogueSource, kind: Kind): AnyModel => source.list(kind)[0]!;
const contentsOf = (source: CatalogueSource) => KINDS.map((kind) => source.list(kind));

/** The source with the changes, in one step. */
function over(source: CatalogueSource, ...changes: readonly Change[]): CatalogueSource {
  const { layers } = source;
  const entries = changes.map(([kind, id, document], index): StoredEntry => ({
    kind,
    id,
    version: layers.version + index + 1,
    documents: document === null ? {} : { operator: { id, ...document } },
  }));
  const reading = layers.read(entries);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  source.apply(layers.plan(layers.version + entries.length, step.value));
  return source;
}

const problemOf = ({ layers }: CatalogueSource, kind: Kind, id: string): string | null | undefined =>
  layers.entry(kind, id)?.problem;

it.each(KINDS)('a stored row of the list %s adds a model, disables it, and takes it away', (kind) => {
  const ids: Partial<Record<Kind, string>> = { moving_aliases: '~acme/one', unlisted: 'unlisted/one' };
  const id = ids[kind] ?? 'acme/one';
  const source = over(shipped(), [kind, id, ADDED[kind]]);
  expect(problemOf(source, kind, id)).toBeNull();
  expect(idsIn(source, kind)).toContain(id);
  over(source, [kind, id, { ...ADDED[kind], disabled: true }]);
  expect(source.layers.model(kind, id)?.disabled).toBe(true);
  over(source, [kind, id, null]);
  expect(contentsOf(source)).toEqual(contentsOf(shipped()));
});

it.each(MODEL_KINDS)(
  'a stored row of the list %s disables a shipped model and keeps its other members',
  (kind) => {
    const model = firstOf(shipped(), kind);
    const { layers } = over(shipped(), [kind, model.id, { disabled: true }]);
    expect(layers.model(kind, model.id)).toEqual({ ...model, disabled: true });
  },
);

it.each(MODEL_KINDS)(
  'a stored row of the list %s states the end of a shipped model, and its successor',
  (kind) => {
    const model = firstOf(shipped(), kind);
    const end = { expires_on: '2027-03-31', successor: 'acme/next' };
    expect(over(shipped(), [kind, model.id, end]).layers.model(kind, model.id)).toEqual({
      ...model,
      expiresOn: '2027-03-31',
      successor: 'acme/next',
    });
    const wrong = over(shipped(), [kind, model.id, { expires_on: '2027-02-30' }]);
    expect(problemOf(wrong, kind, model.id)).toContain('expires_on: must be a day of the calendar');
  },
);

it.each(
  MODEL_KINDS.flatMap((kind) =>
    MODEL_KINDS.filter((other) => other !== kind).map((other) => [kind, other] as const),
  ),
)('a stored row of the list %s cannot have the id of a model of the list %s', (kind, other) => {
  const { id } = firstOf(shipped(), other);
  const changed = over(shipped(), [kind, id, ADDED[kind]]);
  expect(problemOf(changed, kind, id)).toContain(`${id} names`);
  expect(contentsOf(changed)).toEqual(contentsOf(shipped()));
});

it.each<[string, string, object, string]>([
  ['has the id of a model', 'acme/one', {}, 'must be of the form ~vendor/name'],
  ['has no target', '~acme/one', { targets: [] }, 'targets: must name at least one target'],
  [
    'has two targets from one day on',
    '~acme/one',
    {
      targets: [
        { ...ROW, target: 'acme/1' },
        { ...ROW, target: 'acme/2' },
      ],
    },
    'there are two targets from 2026-01-01 on',
  ],
  ['names another alias', '~acme/one', { targets: [{ ...ROW, target: '~acme/two' }] }, 'targets[0].target'],
  ['has prices', '~acme/one', { endpoints: [] }, 'endpoints: is not known here'],
])('a stored moving alias that %s is refused', (_name, id, members, problem) => {
  const changed = over(shipped(), ['moving_aliases', id, { ...ADDED.moving_aliases, ...members }]);
  expect(problemOf(changed, 'moving_aliases', id)).toContain(problem);
});

it('a stored row cannot give a server of one model another one for another kind', () => {
  const bounds = {
    data_policy: { retains_prompts: false, trains: false },
    prices: [{ ...ROW, usd_per_million_tokens: 0 }],
  };
  const embeddings = {
    ...HEAD,
    native_dimensions: 8,
    endpoints: [
      {
        provider: 'tei',
        upstream_model: 'one',
        max_inputs_per_call: 32,
        max_tokens_per_input: 512,
        ...bounds,
      },
    ],
  };
  const rerank = {
    ...HEAD,
    endpoints: [
      {
        provider: 'tei',
        upstream_model: 'two',
        pointwise: true,
        max_documents_per_call: 32,
        ...bounds,
        prices: [{ ...ROW, usd_per_million_tokens: { prompt: 0 } }],
      },
    ],
  };
  const changed = over(shipped(), ['models', 'acme/embed', embeddings]);
  expect(problemOf(changed, 'models', 'acme/embed')).toBeNull();
  const both = over(changed, ['rerank_models', 'acme/rank', rerank]);
  expect(problemOf(both, 'rerank_models', 'acme/rank')).toContain('tei serves one model');
});

const CLAUDE = 'anthropic/claude-opus-5';
const withoutWrites = { prompt: 4, completion: 20, cache_read: 0.4 };
const allPrices = { ...withoutWrites, cache_write: 5, cache_write_1h: 8 };

it.each<[string, string, object]>([
  ['changes the price of an endpoint', CLAUDE, { provider: 'anthropic' }],
  ['says that it needs nothing', CLAUDE, { provider: 'anthropic', needs: [] }],
  [
    'adds an endpoint of a cloud',
    CLAUDE,
    {
      provider: 'bedrock',
      tag: 'bedrock/eu',
      upstream_model: 'eu.anthropic.claude-opus-5',
      wires: ['messages'],
    },
  ],
  [
    'adds a model of Anthropic',
    'anthropic/claude-new',
    { provider: 'anthropic', upstream_model: 'claude-new' },
  ],
])('a stored row of Claude that %s is refused without the prices of writes', (_name, id, endpoint) => {
  const problemWith = (prices: object): string | null | undefined => {
    const document = {
      ...(id === CLAUDE ? {} : HEAD),
      endpoints: [{ ...endpoint, prices: [{ ...ROW, usd_per_million_tokens: prices }] }],
    };
    return problemOf(over(shipped(), ['chat_models', id, document]), 'chat_models', id);
  };
  expect(problemWith(withoutWrites)).toContain(
    'usd_per_million_tokens must have cache_write: the endpoint needs it',
  );
  expect(problemWith(allPrices)).toBeNull();
});

it('a stored row gives a regional profile of Claude its own price beside the global one (G25)', () => {
  const id = 'anthropic/claude-sonnet-4.6';
  const regional = {
    provider: 'bedrock',
    tag: 'bedrock/us',
    upstream_model: 'us.anthropic.claude-sonnet-4-6',
    wires: ['messages'],
  };
  const prices = { prompt: 3.3, completion: 16.5, cache_read: 0.33, cache_write: 4.125, cache_write_1h: 6.6 };
  const row = { ...ROW, usd_per_million_tokens: prices };
  const source = over(shipped(), ['chat_models', id, { endpoints: [{ ...regional, prices: [row] }] }]);
  expect(problemOf(source, 'chat_models', id)).toBeNull();
  const model = source.chatCatalogue.find(id)?.model as ChatModel;
  const pricesAt = (upstream: string) => {
    const [price] = model.endpoints.find(({ upstreamModel }) => upstreamModel === upstream)?.prices ?? [];
    return [price?.prompt, price?.completion];
  };
  expect(pricesAt('us.anthropic.claude-sonnet-4-6')).toEqual([3_300_000n, 16_500_000n]);
  expect(pricesAt('global.anthropic.claude-sonnet-4-6')).toEqual([3_000_000n, 15_000_000n]);
});

it('a stored model may have an alias of another one as its id, and gives it back at its end', () => {
  const other = { ...ADDED.chat_models, canonical_slug: 'acme/other-1', aliases: ['acme/taken'] };
  const source = over(shipped(), ['chat_models', 'acme/other', other]);
  const aliases = () => (source.chatCatalogue.get('acme/other') as ChatModel).aliases;
  const ownerOf = (name: string) => source.chatCatalogue.find(name)?.model.id;
  expect([ownerOf('acme/taken'), ownerOf('taken')]).toEqual(['acme/other', 'acme/other']);
  over(source, ['chat_models', 'acme/taken', ADDED.chat_models]);
  expect([ownerOf('acme/taken'), ownerOf('taken'), aliases()]).toEqual(['acme/taken', 'acme/taken', []]);
  over(source, ['chat_models', 'acme/taken', null]);
  expect([ownerOf('acme/taken'), aliases()]).toEqual(['acme/other', ['acme/taken']]);
});

it('two changed models with one name are refused, and others apply', () => {
  const named = { ...ADDED.chat_models, aliases: ['acme/both'] };
  const source = over(
    shipped(),
    ['chat_models', 'acme/one', named],
    ['chat_models', 'acme/two', named],
    ['chat_models', 'acme/three', ADDED.chat_models],
  );
  expect(source.layers.problems).toHaveLength(1);
  expect(source.layers.problems[0]?.problem).toContain('acme/both names acme/');
  expect(source.chatCatalogue.find('acme/three')).toBeDefined();
});

it('changes apply in any order to one list', () => {
  const changes: Change[] = ['acme/b', 'acme/a', 'acme/c'].map((id) => [
    'chat_models',
    id,
    ADDED.chat_models,
  ]);
  const at = shipped();
  for (const change of changes) over(at, change);
  expect(idsIn(at, 'chat_models')).toEqual(idsIn(over(shipped(), ...changes.toReversed()), 'chat_models'));
});
