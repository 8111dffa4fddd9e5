// Settlement of chat calls (docs/contract.md#chat-spend).
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  boundedChat,
  CHARGED_FROM,
  datedPrices,
  LIST_PRICES,
  NO_CHAT_USAGE,
  pricedEndpoint,
} from '../../../test/support/chat/charges.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import { ENDINGS } from '../../domain/ending.js';
import type { Ending } from '../../domain/ending.js';
import { greatestChatCost } from './chat-bound.js';
import { chargeForChat } from './chat-charge.js';
import type { ServedChat } from './chat-charge.js';
import { chatCost } from './chat-cost.js';
import { promptBound } from './prompt-size.js';

const served = (usage: Partial<ChatUsage>, more: Partial<ServedChat> = {}): ServedChat => ({
  endpoint: pricedEndpoint(),
  provider: 'openai',
  endpointName: 'openai/a-model',
  isByok: false,
  usage: { ...NO_CHAT_USAGE, ...usage },
  source: 'reported',
  hasFinished: true,
  serviceTier: null,
  ...more,
});
const REQUEST = { serviceTier: null, cacheWriteTtl: null, images: 0, pricedAt: CHARGED_FROM };

describe('the worked example', () => {
  it('reserves 52,538,400,000 picodollars for "hi" without a limit on the output', async () => {
    const call = await boundedChat({});
    expect(promptBound(call.size, pricedEndpoint())).toBe(274);
    expect(greatestChatCost(call, pricedEndpoint())).toBe(52_538_400_000n);
  });

  it('settles 1,000 tokens of which 800 are cached, and 40 of which 30 are reasoning', () => {
    const usage = { promptTokens: 1_000, cachedTokens: 800, completionTokens: 40, reasoningTokens: 30 };
    const { charge, cost } = chargeForChat({ served: served(usage), ending: 'completed' }, REQUEST, null);
    expect(charge.cost).toBe(224_000_000n);
    expect(cost).toMatchObject({
      prompt: 160_000_000n,
      completion: 64_000_000n,
      cacheDiscount: 240_000_000n,
    });
  });

  it('charges a cancelled call for its prompt and the counted text', () => {
    const call = served(
      { promptTokens: 1_000, completionTokens: 10 },
      { source: 'counted', hasFinished: false },
    );
    const { charge, source } = chargeForChat({ served: call, ending: 'caller_left' }, REQUEST, null);
    expect([charge.cost, source]).toEqual([416_000_000n, 'counted']);
  });

  it('charges nothing for a broken call, and keeps the bill for the operator, counted or reported', () => {
    const usage = { promptTokens: 1_000, completionTokens: 10 };
    const counted = served(usage, { source: 'counted', hasFinished: false });
    const broken = chargeForChat({ served: counted, ending: 'provider_after_content' }, REQUEST, null);
    expect([broken.charge.cost, broken.charge.upstreamCost, broken.source]).toEqual([
      0n,
      416_000_000n,
      'none',
    ]);
    const billed = chargeForChat({ served: served(usage), ending: 'provider_after_content' }, REQUEST, null);
    expect([billed.charge.cost, billed.charge.upstreamCost]).toEqual([0n, 416_000_000n]);
    expect(billed.charge.unpaid).toMatchObject([{ reason: 'failed_call', amount: 416_000_000n }]);
  });
});

const price = fc.bigInt({ min: 0n, max: 10n ** 7n });
const prices = fc.record({
  prompt: price,
  completion: price,
  cacheRead: price,
  cacheWrite: price,
  cacheWrite1h: price,
  reasoning: price,
  audioInput: price,
  audioInputCached: price,
  audioOutput: price,
  image: price,
  request: price,
  webSearch: price,
});
/** Details that are parts of their totals, as every normalised usage has them. */
function usageWithin(mostPrompt: number, mostCompletion: number): fc.Arbitrary<ChatUsage> {
  return fc
    .tuple(fc.nat(mostPrompt), fc.nat(mostCompletion), fc.nat(100), fc.nat(100), fc.nat(100))
    .map(([promptTokens, completionTokens, cached, written, thought]) => {
      const cachedTokens = Math.floor((promptTokens * cached) / 100);
      const cacheWriteTokens = Math.floor(((promptTokens - cachedTokens) * written) / 100);
      const reasoningTokens = Math.floor((completionTokens * thought) / 100);
      return Object.assign({}, NO_CHAT_USAGE, {
        promptTokens,
        completionTokens,
        cachedTokens,
        cacheWriteTokens,
        reasoningTokens,
      });
    });
}

describe('settlement', () => {
  it('never costs more than the bound, for usage within the bound', async () => {
    const call = await boundedChat({ max_tokens: 500, n: 2 });
    const usage = usageWithin(promptBound(call.size, pricedEndpoint()), 1_000);
    fc.assert(
      fc.property(prices, usage, fc.constantFrom('5m' as const, '1h' as const, null), (list, used, ttl) => {
        const bounded = { ...call, request: { ...call.request, cacheWriteTtl: ttl } };
        const bound = greatestChatCost(bounded, pricedEndpoint({ prices: [datedPrices(list)] })) ?? -1n;
        const { total } = chatCost(list, { usage: used, images: 0, cacheWriteTtl: ttl });
        expect(total <= bound).toBe(true);
      }),
    );
  });

  it('never costs more than the bound where the provider searches the web, each round with a whole context', async () => {
    const call = await boundedChat({ max_tokens: 500 });
    const { contextLength } = pricedEndpoint();
    const search = { type: 'web_search_20250305', index: 0, isNeeded: false };
    const native = {
      wire: 'messages',
      members: new Map(),
      headers: {},
      cuts: [],
      edits: [],
      unshared: [],
    } as const;
    await fc.assert(
      fc.asyncProperty(prices, usageWithin(4 * contextLength, 500), fc.nat(3), (list, used, searches) => {
        const request = { ...call.request, native: { ...native, webSearch: { ...search, maxUses: 3 } } };
        const endpoint = pricedEndpoint({ prices: [datedPrices(list)] });
        const usage = { ...used, webSearches: searches, providerToolUses: searches };
        const { charge } = chargeForChat(
          { served: served(usage, { endpoint }), ending: 'completed' },
          REQUEST,
          null,
        );
        expect((charge.cost ?? 0n) <= (greatestChatCost({ ...call, request }, endpoint) ?? -1n)).toBe(true);
        expect(charge.unpaid).toEqual([]);
        return Promise.resolve();
      }),
    );
  });

  it('charges at most the reservation, and records the rest as an overrun', () => {
    fc.assert(
      fc.property(usageWithin(100_000, 100_000), fc.bigInt({ min: 0n, max: 10n ** 12n }), (usage, most) => {
        const reserved = { cost: most, costWithByok: most };
        const settled = chargeForChat({ served: served(usage), ending: 'completed' }, REQUEST, reserved);
        const { cost, upstreamCost } = settled.charge;
        expect((cost ?? 0n) <= most).toBe(true);
        expect((cost ?? 0n) + (settled.overrun ?? 0n)).toBe(upstreamCost);
        expect((settled.overrun ?? 0n) > 0n).toBe(settled.charge.unpaid.length === 1);
      }),
    );
  });

  it('counts at most the reservation towards limits, for every ending, with own keys and without', () => {
    const end = fc.constantFrom(...(Object.keys(ENDINGS) as Ending[]));
    const source = fc.constantFrom('reported' as const, 'counted' as const, 'estimated' as const);
    const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(
        usageWithin(100_000, 100_000),
        end,
        source,
        fc.boolean(),
        fc.boolean(),
        amount,
        amount,
        (usage, ending, from, isByok, hasFinished, most, more) => {
          const reserved = { cost: isByok ? 0n : most, costWithByok: most + (isByok ? more : 0n) };
          const call = served(usage, { isByok, source: from, hasFinished });
          const { charge } = chargeForChat({ served: call, ending }, REQUEST, reserved);
          const counted = isByok ? charge.upstreamCost : charge.cost;
          expect((charge.cost ?? 0n) <= reserved.cost).toBe(true);
          expect((counted ?? 0n) <= reserved.costWithByok).toBe(true);
        },
      ),
    );
  });

  it('never makes details more expensive than the same tokens without them, where their prices are not', () => {
    fc.assert(
      fc.property(usageWithin(1_000, 1_000), (usage) => {
        const effective = {
          ...LIST_PRICES,
          cacheRead: 100_000n,
          cacheWrite: 400_000n,
          cacheWrite1h: 400_000n,
          reasoning: 1_600_000n,
          audioInput: 400_000n,
          audioInputCached: 400_000n,
          audioOutput: 1_600_000n,
          image: 0n,
          request: 0n,
          webSearch: 0n,
        };
        const priced = { images: 0, cacheWriteTtl: null };
        const plain = {
          ...NO_CHAT_USAGE,
          promptTokens: usage.promptTokens,
          completionTokens: usage.completionTokens,
        };
        const cost = chatCost(effective, { ...priced, usage });
        expect(cost.total <= chatCost(effective, { ...priced, usage: plain }).total).toBe(true);
        expect(cost.prompt + cost.completion).toBe(cost.total);
      }),
    );
  });

  it('charges nothing for no completion without a finish reason, unless the client has left', () => {
    const empty = served({ promptTokens: 50 }, { hasFinished: false });
    const settle = (call: ServedChat, ending: Ending) =>
      chargeForChat({ served: call, ending }, REQUEST, null).charge.cost;
    expect(settle(empty, 'completed')).toBe(0n);
    expect(settle(empty, 'caller_left')).toBe(20_000_000n);
    expect(settle(served({ promptTokens: 50 }), 'completed')).toBe(20_000_000n);
  });

  it('has the price of cached audio for the cached tokens that are audio', () => {
    const list = { ...LIST_PRICES, audioInput: 1_000_000n, audioInputCached: 250_000n };
    const endpoint = pricedEndpoint({ prices: [datedPrices(list)] });
    // 900 tokens of audio, of which 700 are cached, and 100 cached tokens of text.
    const audio = { audioInputTokens: 200, cachedTokens: 800, cachedAudioTokens: 700 };
    const call = served({ promptTokens: 1_000, ...audio }, { endpoint });
    const { cost } = chargeForChat({ served: call, ending: 'completed' }, REQUEST, null);
    const cached = 100n * 100_000n + 700n * 250_000n;
    expect(cost).toMatchObject({
      cached,
      total: cached + 200n * 1_000_000n,
      cacheDiscount: 100n * 300_000n + 700n * 750_000n,
    });
  });

  it('charges cached tokens as the prompt where their row has no price of the cached part (G30)', () => {
    const { prompt, completion } = LIST_PRICES;
    const endpoint = pricedEndpoint({ prices: [datedPrices({ prompt, completion })] });
    const call = served({ promptTokens: 5_000, cachedTokens: 3_642 }, { endpoint });
    const { charge, cost } = chargeForChat({ served: call, ending: 'completed' }, REQUEST, null);
    expect([charge.cost, cost?.cached, cost?.cacheDiscount]).toEqual([5_000n * prompt, 3_642n * prompt, 0n]);
  });

  it.each([
    ['at the price of an hour', { cacheWrite: 500_000n, cacheWrite1h: 800_000n }, 800_000_000n],
    ['at the price of five minutes where their row has no other', { cacheWrite: 500_000n }, 500_000_000n],
  ])('charges tokens that are written for an hour %s (G33)', (_name, writes, expected) => {
    const endpoint = pricedEndpoint({ prices: [datedPrices({ ...LIST_PRICES, ...writes })] });
    const call = served({ promptTokens: 1_000, cacheWriteTokens: 1_000 }, { endpoint });
    const request = { ...REQUEST, cacheWriteTtl: '1h' } as const;
    expect(chargeForChat({ served: call, ending: 'completed' }, request, null).charge.cost).toBe(expected);
  });

  it('bills own provider keys to their owner', () => {
    const own = served({ promptTokens: 10, completionTokens: 1 }, { isByok: true });
    const { charge } = chargeForChat({ served: own, ending: 'completed' }, REQUEST, null);
    expect([charge.cost, charge.upstreamCost, charge.isByok]).toEqual([0n, 5_600_000n, true]);
  });

  it('has the price of the tier that the answer names', () => {
    const endpoint = pricedEndpoint({
      prices: [datedPrices(LIST_PRICES, { serviceTiers: { priority: { prompt: 1n, completion: 2n } } })],
    });
    const cost = (serviceTier: string | null, requested: string | null) =>
      chargeForChat(
        {
          served: served({ promptTokens: 1, completionTokens: 1 }, { endpoint, serviceTier }),
          ending: 'completed',
        },
        { ...REQUEST, serviceTier: requested },
        null,
      ).charge.cost;
    expect(cost('priority', null)).toBe(3n);
    expect(cost('default', 'priority')).toBe(2_000_000n);
    expect(cost('a-new-tier', 'priority')).toBe(3n);
  });
});
