import { describe, expect, it } from '@jest/globals';
import { createEndpoint, createModel, createOwnCredential } from '../../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { createWork } from '../../../test/support/upstreams/pace.js';
import type { EmbeddingInput, EmbeddingRequest, MultimodalItem } from '../../domain/embeddings/embedding.js';
import { local } from '../../providers/local.js';
import type { OwnCredential } from '../../routing/endpoint-target.js';
import type { Route } from '../../routing/embeddings/route-planner.js';
import { embeddingCacheKeys, isCacheable } from './embedding-cache-key.js';

const ONE = createEndpoint({ provider: 'one' });
const OTHER = createEndpoint({ provider: 'other' });

function routeOf(
  endpoints: readonly ModelEndpoint[],
  id = 'vendor/model',
  credential: OwnCredential | null = null,
): Route {
  const model = createModel(endpoints, id);
  const targets = endpoints.map((endpoint) => ({ model, endpoint, provider: local, credential }));
  return { accountId: 'account', model, catalogueVersion: 0, targets };
}

interface Asked {
  readonly workspaceId?: string;
  readonly route?: Route;
  readonly request?: Partial<EmbeddingRequest>;
}

const texts = (...items: string[]): EmbeddingInput => ({ form: 'texts', items });

const keysOf = ({ workspaceId = 'workspace', route = routeOf([ONE]), request = {} }: Asked = {}) =>
  embeddingCacheKeys(
    workspaceId,
    route,
    {
      model: route.model.id,
      input: texts('text'),
      encodingFormat: 'float',
      extra: {},
      ...request,
    },
    createWork(),
  );

describe('the key of an input', () => {
  it.each<[string, Asked]>([
    ['another workspace', { workspaceId: 'workspace 2' }],
    ['another model', { route: routeOf([ONE], 'vendor/other') }],
    ['another endpoint', { route: routeOf([OTHER]) }],
    ['one more endpoint', { route: routeOf([ONE, OTHER]) }],
    ['another variant of the endpoint', { route: routeOf([createEndpoint({ ...ONE, tag: 'one/turbo' })]) }],
    [
      'another model at the provider',
      { route: routeOf([createEndpoint({ ...ONE, upstreamModel: 'other' })]) },
    ],
    ['another width', { request: { dimensions: 2 } }],
    ['an input type', { request: { inputType: 'search_query' } }],
    ['another encoding', { request: { encodingFormat: 'base64' } }],
    ['another text', { request: { input: texts('text ') } }],
    ['tokens', { request: { input: { form: 'tokens', items: [[1]] } } }],
    [
      'a multimodal item',
      { request: { input: { form: 'multimodal', items: [{ content: [{ type: 'text', text: 'text' }] }] } } },
    ],
  ])('is another one for %s', async (_name, asked) => {
    const [key] = await keysOf();
    const [other] = await keysOf(asked);
    expect(other).toHaveLength(43);
    expect(other).not.toBe(key);
  });

  it.each<[string, Asked]>([
    ['the native width by name', { request: { dimensions: 4 } }],
    ['another user', { request: { user: 'someone' } }],
    ['an own provider key', { route: routeOf([ONE], 'vendor/model', createOwnCredential(1)) }],
  ])('is the same for %s', async (_name, asked) => {
    expect(await keysOf(asked)).toEqual(await keysOf());
  });

  it('does not depend on the order of the endpoints', async () => {
    const inOrder = await keysOf({ route: routeOf([ONE, OTHER]) });
    expect(await keysOf({ route: routeOf([OTHER, ONE, ONE]) })).toEqual(inOrder);
  });

  it.each<[string, EmbeddingInput, EmbeddingInput]>([
    ['texts that differ in half a surrogate', texts('\ud800'), texts('\ufffd')],
    ['a text and its escape', texts('\n'), texts('\\n')],
    ['tokens and their digits', { form: 'tokens', items: [[1, 2]] }, { form: 'tokens', items: [[12]] }],
    ['tokens and their text', { form: 'tokens', items: [[1]] }, texts('[1]')],
  ])('keeps %s apart', async (_name, one, other) => {
    expect(await keysOf({ request: { input: one } })).not.toEqual(
      await keysOf({ request: { input: other } }),
    );
  });

  it('keeps adjacent parts apart', async () => {
    const one = await keysOf({ workspaceId: 'a', route: routeOf([ONE], 'b/c') });
    const other = await keysOf({ workspaceId: 'a"', route: routeOf([ONE], '/c') });
    expect(one).not.toEqual(other);
    const ambiguous = (tag: string, upstreamModel: string) =>
      keysOf({ route: routeOf([createEndpoint({ tag, upstreamModel })]) });
    expect(await ambiguous('one', 'two/three')).not.toEqual(await ambiguous('one/two', 'three'));
  });

  it('exists for each input, in order, and is equal for equal inputs', async () => {
    const [a] = await keysOf({ request: { input: texts('a') } });
    const [b] = await keysOf({ request: { input: texts('b') } });
    expect(await keysOf({ request: { input: texts('a', 'b', 'a') } })).toEqual([a, b, a]);
  });

  it('yields to other work between many inputs', async () => {
    let ticks = 0;
    let isDone = false;
    const count = () => {
      ticks++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await keysOf({ request: { input: texts(...Array.from({ length: 100 }, () => 'x'.repeat(100_000))) } });
    isDone = true;
    expect(ticks).toBeGreaterThanOrEqual(5);
  });
});

describe('isCacheable()', () => {
  const isIt = (...content: MultimodalItem['content']) =>
    isCacheable({
      model: 'vendor/model',
      input: {
        form: 'multimodal',
        items: [{ content: [{ type: 'text', text: 'http://a.test' }] }, { content }],
      },
      encodingFormat: 'float',
      extra: {},
    });

  it('accepts parts that hold their content', () => {
    expect(isIt({ type: 'text', text: 'a' })).toBe(true);
    expect(isIt({ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } })).toBe(true);
    expect(isIt({ type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } })).toBe(true);
  });

  it('rejects parts behind an address, whose content may change', () => {
    const data = { type: 'input_file', input_file: { data: 'data:application/pdf;base64,JVBERg==' } };
    expect(isIt(data, { type: 'image_url', image_url: { url: 'https://a.test/a.png' } })).toBe(false);
    expect(isIt({ type: 'input_video', input_video: { data: 'http://a.test/a.mp4' } })).toBe(false);
  });
});
