import { describe, expect, it } from '@jest/globals';
import type { CatalogueModel, PriceRow } from '../../../api/catalogue';
import {
  amountsOf,
  cheapestRow,
  layerOrNull,
  operatorLayer,
  rowInForce,
  withEndpoint,
  withoutEndpoint,
  withPrices,
} from './documents';

const row = (day: string, prompt: number): PriceRow => ({
  effective_from: day,
  source: 'a list',
  usd_per_million_tokens: { prompt, completion: prompt * 4 },
});
const SHIPPED = {
  provider: 'openai',
  upstream_model: 'chat-1',
  prices: [row('2026-01-01', 2)],
};

const entryOf = (changed: Partial<CatalogueModel> = {}): CatalogueModel => ({
  id: 'acme/chat-1',
  kind: 'chat_models',
  name: 'Chat 1',
  disabled: false,
  version: 3,
  problem: null,
  layers: ['shipped', 'operator'],
  can_change: true,
  revisions: [],
  model: { id: 'acme/chat-1', name: 'Ours', context_length: 1000, endpoints: [SHIPPED] },
  sources: {
    id: 'operator',
    name: 'operator',
    context_length: 'shipped',
    endpoints: { openai: { provider: 'shipped', upstream_model: 'shipped', prices: 'shipped' } },
  },
  documents: [{ name: 'shipped', model: { id: 'acme/chat-1', endpoints: [SHIPPED] } }],
  ...changed,
});

describe('the layer of the operator', () => {
  it('has the members that only the operator states', () => {
    expect(operatorLayer(entryOf())).toEqual({ id: 'acme/chat-1', name: 'Ours' });
  });

  it('has changed members of endpoints under the tag that finds them', () => {
    const endpoint = { ...SHIPPED, tag: 'openai/eu', max_output_tokens: 10 };
    const entry = entryOf({
      model: { id: 'acme/chat-1', endpoints: [endpoint] },
      sources: {
        id: 'operator',
        endpoints: {
          'openai/eu': {
            provider: 'operator',
            tag: 'operator',
            upstream_model: 'shipped',
            max_output_tokens: 'operator',
          },
        },
      },
    });
    expect(operatorLayer(entry)).toEqual({
      id: 'acme/chat-1',
      endpoints: [{ provider: 'openai', tag: 'openai/eu', max_output_tokens: 10 }],
    });
  });

  it('ends when nothing of it is left', () => {
    const layer = withEndpoint(
      { id: 'acme/chat-1' },
      { provider: 'openai', tag: 'openai' },
      { wires: ['chat'] },
    );
    expect(layer.endpoints).toEqual([{ provider: 'openai', wires: ['chat'] }]);
    const without = withEndpoint(layer, { provider: 'openai', tag: 'openai' }, { wires: undefined });
    expect(without).toEqual({ id: 'acme/chat-1' });
    expect(layerOrNull(without)).toBeNull();
    expect(layerOrNull(withoutEndpoint(layer, 'openai'))).toBeNull();
  });
});

describe('prices of the operator', () => {
  const view = { tag: 'openai', endpoint: SHIPPED };

  it('replace the whole list', () => {
    const added = row('2026-06-01', 1);
    expect(withPrices(entryOf(), view, [...SHIPPED.prices, added]).endpoints).toEqual([
      { provider: 'openai', prices: [...SHIPPED.prices, added] },
    ]);
  });

  it('are not stored when they are those of the layers below', () => {
    // The store keeps members in an order of its own.
    const stored = [Object.fromEntries(Object.entries(row('2026-01-01', 2)).toReversed()) as PriceRow];
    expect(withPrices(entryOf(), view, stored)).toEqual({ id: 'acme/chat-1', name: 'Ours' });
  });

  it('are stored as an empty list when no layer below has the endpoint', () => {
    const own = entryOf({ documents: [] });
    expect(withPrices(own, view, []).endpoints).toEqual([{ provider: 'openai', prices: [] }]);
  });
});

describe('the row in force', () => {
  it('is the newest that has begun', () => {
    const rows = [row('2026-01-01', 2), row('2026-12-01', 3), row('2026-06-01', 1)];
    expect(rowInForce(rows, '2026-11-30')).toBe(rows[2]);
    expect(rowInForce(rows, '2026-12-01')).toBe(rows[1]);
    expect(rowInForce(rows, '2025-12-31')).toBeUndefined();
  });

  it('of a model is that of its cheapest endpoint', () => {
    const endpoints = [2, 1, 3].map((prompt) => ({
      provider: 'openai',
      prices: [row('2026-01-01', prompt)],
    }));
    expect(cheapestRow({ endpoints }, '2026-11-30')).toBe(endpoints[1]?.prices[0]);
  });
});

it('shows amounts of every unit, and 0 as a price', () => {
  expect(amountsOf({ effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: 0 })).toEqual([
    { label: 'Input', usd: 0 },
  ]);
  expect(
    amountsOf({
      effective_from: '2026-01-01',
      source: 'x',
      usd_per_search_unit: '0.002',
      usd_per_thousand_searches: 10,
    }),
  ).toEqual([
    { label: 'For 1 search unit', usd: 0.002 },
    { label: 'For 1,000 web searches', usd: 10 },
  ]);
});
