import { describe, expect, it } from '@jest/globals';
import type { Generation } from '../../api/generations';
import { costParts } from './cost-parts';

const CHAT = {
  usage: 0.0048,
  is_byok: false,
  upstream_inference_cost: 0.0048,
  provider_wire: 'messages',
  tokens_prompt: 1100,
  search_units: null,
  cost_parts: [
    { part: 'prompt', tokens: 600, cost: 0.0012 },
    { part: 'cached', tokens: 400, cost: 0.0002 },
    { part: 'cache_write', tokens: 40, cost: 0.0001 },
    { part: 'cache_write_1h', tokens: 60, cost: 0.00024 },
    { part: 'completion', tokens: 200, cost: 0.0016 },
    { part: 'reasoning', tokens: 100, cost: 0.0008 },
  ],
  num_media_prompt: 0,
  num_input_audio_prompt: 0,
} as unknown as Generation;

describe('the parts of a cost', () => {
  it('are each class of tokens once, with its price', () => {
    expect(costParts(CHAT).map(({ label, tokens, price }) => [label, tokens, price?.toPrecision(6)])).toEqual(
      [
        ['Prompt', 600, '0.00000200000'],
        ['Prompt, read from the cache', 400, '5.00000e-7'],
        ['Prompt, written for 5 minutes', 40, '0.00000250000'],
        ['Prompt, written for an hour', 60, '0.00000400000'],
        ['Answer', 200, '0.00000800000'],
        ['Answer, reasoning', 100, '0.00000800000'],
      ],
    );
  });

  it('have no price where none is known, and none of a prompt with images', () => {
    const unpriced = { ...CHAT, cost_parts: [{ part: 'prompt', tokens: 1, cost: null }] } as Generation;
    expect(costParts(unpriced)).toEqual([{ label: 'Prompt', tokens: 1, amount: null, price: null }]);
    const [prompt, cached] = costParts({ ...CHAT, num_media_prompt: 1 });
    expect([prompt?.price, cached?.price]).toEqual([null, 0.0002 / 400]);
  });

  it('are one for embeddings, and none for a price by search units', () => {
    const embedded = { ...CHAT, cost_parts: null, tokens_prompt: 10, usage: 0.00002 };
    expect(costParts(embedded)).toMatchObject([{ label: 'Input', tokens: 10, amount: 0.00002 }]);
    expect(costParts({ ...embedded, tokens_prompt: 0 })).toEqual([]);
    expect(costParts({ ...embedded, search_units: 1 })).toEqual([]);
  });
});
