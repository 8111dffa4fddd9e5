// The maximum cost of a call: never below the bill, for any endpoints that serve its inputs.
import { describe, expect, it } from '@jest/globals';
import {
  createEndpoint,
  createModel,
  createOwnCredential,
  createTarget,
} from '../../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import type { EmbeddingInput } from '../../domain/embeddings/embedding.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import type { EndpointTarget } from '../../routing/endpoint-target.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';
import { boundsOf } from './call-bound.js';

const DAY = '2026-11-18';
const price = (perToken: bigint) => [{ effectiveFrom: '2026-01-01', perToken, source: 'test' }];
const text = { type: 'text', text: 'ten bytes.' };
const image = { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } };
// Its bytes, and room for what a tokenizer adds.
const TEXT_BOUND = 18n;

const target = (endpoint: Partial<ModelEndpoint>): EndpointTarget => createTarget(createEndpoint(endpoint));

function bounds(
  targets: readonly EndpointTarget[],
  input: EmbeddingInput,
  extra: Readonly<Record<string, unknown>> = {},
): SpendBounds {
  const route = {
    accountId: 'account',
    model: createModel(targets.map(({ endpoint }) => endpoint)),
    catalogueVersion: 0,
    targets,
  };
  return boundsOf(route, { model: route.model.id, input, encodingFormat: 'float', extra }, DAY);
}

/** Both of them, where they are the same. */
async function boundOf(targets: readonly EndpointTarget[], input: EmbeddingInput): Promise<SpendBound> {
  const both = bounds(targets, input);
  const bound = both.quick();
  expect(await both.exact()).toEqual(bound);
  return bound;
}

const same = (cost: bigint): SpendBound => ({ cost, costWithByok: cost });

describe('the bound of a call', () => {
  const small = target({ maxTokensPerInput: 20, prices: price(30n) });
  const large = target({ maxTokensPerInput: 1000, prices: price(10n) });
  const short = text.text;
  const long = 'x'.repeat(492);

  it.each([
    ['one endpoint', [large], 10n * (TEXT_BOUND + 500n)],
    ['several: the most expensive one for each input', [small, large], 30n * TEXT_BOUND + 10n * 500n],
    ['several in another order', [large, small], 30n * TEXT_BOUND + 10n * 500n],
  ])('is a sum over the inputs, with %s', async (_name, targets, expected) => {
    expect(await boundOf(targets, { form: 'texts', items: [short, long] })).toEqual(same(expected));
  });

  it('of one input is the cost at the most expensive endpoint', async () => {
    expect(await boundOf([small, large], { form: 'texts', items: [long] })).toEqual(same(10n * 500n));
    expect(await boundOf([small, large], { form: 'texts', items: [short] })).toEqual(same(30n * TEXT_BOUND));
  });

  it('sums token arrays and multimodal items one by one as well', async () => {
    const tokens = (count: number): number[] => Array.from({ length: count }, () => 1);
    expect(await boundOf([small, large], { form: 'tokens', items: [tokens(5), tokens(9)] })).toEqual(
      same(30n * 14n),
    );
    const reading = target({
      maxTokensPerInput: 100,
      prices: price(9n),
      modalityPrices: { image: price(1n) },
    });
    const seeing = target({
      maxTokensPerInput: 100,
      prices: price(1n),
      modalityPrices: { image: price(5n) },
    });
    const items = [{ content: [text] }, { content: [image] }];
    expect(await boundOf([reading, seeing], { form: 'multimodal', items })).toEqual(
      same(9n * TEXT_BOUND + 5n * 100n),
    );
  });

  it('counts shared endpoints, and own provider keys beside them', async () => {
    const own = createTarget(large.endpoint, createOwnCredential(0));
    const input: EmbeddingInput = { form: 'texts', items: [short, long] };
    expect(await boundOf([own, small], input)).toEqual({
      cost: 30n * (TEXT_BOUND + 20n),
      costWithByok: 30n * TEXT_BOUND + 10n * 500n,
    });
    expect(await boundOf([own], input)).toEqual({ cost: 0n, costWithByok: 10n * (TEXT_BOUND + 500n) });
  });

  it('is unknown when a shared endpoint has no price', async () => {
    const free = target({ prices: [] });
    await expect(boundOf([large, free], { form: 'texts', items: [short, long] })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('needs no price of an own provider key', async () => {
    const own = createTarget(createEndpoint({ prices: [] }), createOwnCredential(0));
    const input: EmbeddingInput = { form: 'texts', items: [short] };
    expect(await boundOf([own], input)).toEqual(same(0n));
    expect(await boundOf([own, large], input)).toEqual(same(10n * TEXT_BOUND));
  });

  it('covers the members that go upstream with each input', async () => {
    const extra = { title: 'x'.repeat(100) };
    const added = BigInt(JSON.stringify(extra).length);
    const input: EmbeddingInput = { form: 'texts', items: [short, long] };
    const withTitle = bounds([large], input, extra);
    expect(withTitle.quick()).toEqual(same(10n * (2n * added + TEXT_BOUND + 500n)));
    expect(await withTitle.exact()).toEqual(withTitle.quick());
    // Beside tokens, where they can be counted, and up to the limit of an input.
    const counted = target({
      upstreamModel: 'text-embedding-3-small',
      prices: price(1n),
      maxTokensPerInput: 60,
    });
    expect(await bounds([counted], { form: 'texts', items: ['one two three'] }, { x: 1 }).exact()).toEqual(
      same(3n + BigInt('{"x":1}'.length)),
    );
    expect(await bounds([counted], input, extra).exact()).toEqual(same(120n));
  });

  it('is counted for each input where the tokenizer is known', async () => {
    const counted = (perToken: bigint): EndpointTarget =>
      target({ upstreamModel: 'text-embedding-3-small', prices: price(perToken) });
    const { length } = long;
    const input: EmbeddingInput = { form: 'texts', items: ['one two three', 'x '.repeat(length / 2)] };
    // Three tokens, and one for each word and its space, and one at the end.
    const half = BigInt(length / 2 + 1);
    expect(await bounds([counted(20n)], input).exact()).toEqual(same(20n * (3n + half)));
    // Where it is not known, a word has more bytes than tokens.
    expect(await bounds([counted(20n), large], input).exact()).toEqual(same(10n * 21n + 10n * 500n));
    expect(await bounds([counted(30n), large], input).exact()).toEqual(same(10n * 21n + 30n * half));
  });
});
