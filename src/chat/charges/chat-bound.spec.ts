// The bounds of a chat call's output, prompt and price (docs/contract.md#chat-spend).
import { describe, expect, it } from '@jest/globals';
import {
  boundedChat,
  datedPrices,
  DEFAULT_OUTPUT_LIMIT,
  LIST_PRICES,
  pricedEndpoint,
} from '../../../test/support/chat/charges.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import { greatestChatCost, outputBound, sentOutputLimit } from './chat-bound.js';
import type { BoundedCall } from './chat-bound.js';
import { imagesOf, promptBound } from './prompt-size.js';

describe('the bound of the output', () => {
  it('is clamped to the endpoint, whatever the caller names', async () => {
    const call = await boundedChat({ max_tokens: 1_000_000_000 });
    expect(outputBound(call, pricedEndpoint())).toBe(DEFAULT_OUTPUT_LIMIT);
    expect(sentOutputLimit(call, pricedEndpoint())).toBe(DEFAULT_OUTPUT_LIMIT);
  });

  it('names no limit where neither the caller nor a spend limit does', async () => {
    const call = await boundedChat({});
    expect(sentOutputLimit(call, pricedEndpoint())).toBeNull();
    expect(outputBound(call, pricedEndpoint())).toBe(DEFAULT_OUTPUT_LIMIT);
  });

  it('is below the context where the endpoint has no maximum, and the limit of the caller goes upstream', async () => {
    const { maxOutputTokens: _none, ...without } = pricedEndpoint({ contextLength: 1_000 });
    const call = await boundedChat({ max_tokens: 5_000 });
    expect(outputBound(call, without)).toBe(999);
    expect(sentOutputLimit(call, without)).toBe(5_000);
  });

  it('is the limit that this service sends', async () => {
    const endpoint = pricedEndpoint();
    const call = await boundedChat({}, new Map([[endpoint, 700]]));
    expect([sentOutputLimit(call, endpoint), outputBound(call, endpoint)]).toEqual([700, 700]);
    expect(sentOutputLimit({ ...call, request: { ...call.request, maxOutputTokens: 5 } }, endpoint)).toBe(5);
  });

  it('is multiplied by n, which the prompt is not', async () => {
    const one = await boundedChat({ max_tokens: 10 });
    const four = await boundedChat({ max_tokens: 10, n: 4 });
    const cost = (call: BoundedCall) => greatestChatCost(call, pricedEndpoint()) ?? 0n;
    expect(cost(four) - cost(one)).toBe(30n * 1_600_000n);
  });
});

describe('the bound of the prompt', () => {
  it('counts every text that reaches the model', async () => {
    const plain = await boundedChat({});
    const texts = {
      messages: [
        { role: 'system', content: 'abc', name: 'de' },
        {
          role: 'assistant',
          content: null,
          reasoning: 'x',
          tool_calls: [{ id: 'i', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'i', content: [{ type: 'text', text: 'ﬁ' }] },
      ],
      unknown_member: 'yz',
    };
    const call = await boundedChat(texts);
    const added = (endpoint: ChatEndpoint) =>
      promptBound(call.size, endpoint) - promptBound(plain.size, endpoint);
    // 'abc', 'de', i, f, {}, "x" as JSON, i, the ligature in three bytes.
    expect(call.size.textBytes).toBe(3 + 2 + 1 + 1 + 2 + 3 + 1 + 3);
    expect(added(pricedEndpoint())).toBe(16 - 2 + 32);
    // "yz" as JSON: the endpoint receives the unknown member.
    expect(added(pricedEndpoint({ allowedMembers: ['unknown_member'] }))).toBe(20 - 2 + 32);
  });

  it('bounds images by their detail, audio by its bytes, and unknown media by the context', async () => {
    const image = (detail: string) => ({
      type: 'image_url',
      image_url: { url: 'https://a.example/i.png', detail },
    });
    const audio = { type: 'input_audio', input_audio: { data: 'A'.repeat(4_000), format: 'mp3' } };
    const call = await boundedChat({
      messages: [{ role: 'user', content: [image('low'), image('auto'), image('original'), audio] }],
    });
    expect(imagesOf(call.size)).toBe(3);
    expect(promptBound(call.size, pricedEndpoint())).toBe(1_000_000);
    const rates = { maxTokensPerImage: { low: 85, high: 1_445 }, maxTokensPerAudioSecond: 10 };
    expect(promptBound(call.size, pricedEndpoint(rates))).toBe(272 + 85 + 1_445 + 24_600 + 30);
  });

  it('has the highest price that a cache write, audio or a long prompt can have', async () => {
    const call = await boundedChat({ cache_control: { type: 'ephemeral', ttl: '1h' }, max_tokens: 1 });
    const prices = datedPrices({ ...LIST_PRICES, cacheWrite: 500_000n, cacheWrite1h: 800_000n });
    expect(greatestChatCost(call, pricedEndpoint({ prices: [prices] }))).toBe(274n * 800_000n + 1_600_000n);
    const tiers = [{ minPromptTokens: 200, prompt: 900_000n }];
    const plain = await boundedChat({ max_tokens: 1 });
    expect(greatestChatCost(plain, pricedEndpoint({ prices: [datedPrices(LIST_PRICES, { tiers })] }))).toBe(
      274n * 900_000n + 1_600_000n,
    );
  });

  it('is unknown for a tier without a price', async () => {
    const call = await boundedChat({ service_tier: 'flex' });
    expect(greatestChatCost(call, pricedEndpoint())).toBeNull();
  });
});
