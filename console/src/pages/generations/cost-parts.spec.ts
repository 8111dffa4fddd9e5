import { describe, expect, it } from '@jest/globals';
import type { Generation } from '../../api/generations';
import { costParts, sumOf } from './cost-parts';

const CHAT = {
  api_type: 'completions',
  provider_name: 'OpenAI',
  usage: 0,
  overrun: null,
  tokens_prompt: 1000,
  tokens_completion: 300,
  native_tokens_cached: 400,
  native_tokens_cache_write: null,
  native_tokens_reasoning: 100,
} as unknown as Generation;
const PRICING = { prompt: '0.000002', completion: '0.000008', input_cache_read: '0.0000005' };
const endpoint = (pricing: typeof PRICING, name = 'OpenAI') => ({ provider_name: name, pricing });
// 600 x 2 + 400 x 0.5 + 200 x 8 + 100 x 8, in millionths.
const COST = 0.0038;

describe('the parts of a cost', () => {
  it('are each kind of token once, at its price, and add up to the charge', () => {
    const parts = costParts({ ...CHAT, usage: COST }, [endpoint(PRICING)]);
    expect(parts).toEqual([
      { label: 'Prompt', tokens: 600, price: 0.000002 },
      { label: 'Prompt, cached', tokens: 400, price: 0.0000005 },
      { label: 'Answer', tokens: 200, price: 0.000008 },
      { label: 'Answer, reasoning', tokens: 100, price: 0.000008 },
    ]);
    expect(sumOf(parts)).toBeCloseTo(COST, 12);
  });

  it('are those of the endpoint whose prices give the charge', () => {
    const dear = { ...PRICING, prompt: '1' };
    const parts = costParts({ ...CHAT, usage: COST }, [
      endpoint(dear),
      endpoint(PRICING, 'Other'),
      endpoint(PRICING),
    ]);
    expect(parts[0]?.price).toBe(0.000002);
  });

  it('have no price when the prices of today do not give the charge', () => {
    const parts = costParts({ ...CHAT, usage: 0.5 }, [endpoint(PRICING)]);
    expect(parts.map(({ tokens, price }) => [tokens, price])).toEqual([
      [600, null],
      [400, null],
      [200, null],
      [100, null],
    ]);
  });

  it('include what is above the reservation, which is not charged', () => {
    const parts = costParts({ ...CHAT, usage: 0.003, overrun: 0.0008 }, [endpoint(PRICING)]);
    expect(sumOf(parts)).toBeCloseTo(COST, 12);
  });

  it('of embeddings are their inputs alone', () => {
    const embeddings = {
      ...CHAT,
      api_type: 'embeddings',
      usage: 0.00002,
      tokens_completion: 0,
      native_tokens_cached: null,
      native_tokens_reasoning: null,
    };
    expect(costParts(embeddings, [endpoint({ ...PRICING, prompt: '0.00000002' })])).toEqual([
      { label: 'Input', tokens: 1000, price: 0.00000002 },
    ]);
  });
});
