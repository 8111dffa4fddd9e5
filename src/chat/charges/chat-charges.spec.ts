// Bound and settlement of chat calls (docs/contract.md#chat-spend).
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UNHURRIED } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint, ChatPrices, DatedChatPrices } from '../../domain/chat/chat-model.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import { readChatRequest } from '../request/read-chat-request.js';
import { greatestChatCost, outputBound, sentOutputLimit } from './chat-bound.js';
import type { BoundedCall } from './chat-bound.js';
import { chargeForChat } from './chat-charge.js';
import type { ServedChat } from './chat-charge.js';
import { chatCost } from './chat-cost.js';
import { imagesOf, measurePrompt, promptBound } from './prompt-size.js';

const DEFAULT_LIMIT = 32_768;
const FROM = new Date('2026-06-01T12:00:00Z');
const UNTIL = new Date('2026-06-01T12:30:00Z');
const NO_USAGE: ChatUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  audioInputTokens: 0,
  videoInputTokens: 0,
  reasoningTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
  acceptedPredictionTokens: 0,
  rejectedPredictionTokens: 0,
};
const LIST: ChatPrices = { prompt: 400_000n, cacheRead: 100_000n, completion: 1_600_000n };

const dated = (prices: ChatPrices, more: Partial<DatedChatPrices> = {}): DatedChatPrices => ({
  effectiveFrom: '2026-01-01',
  source: 'the list of this test',
  ...prices,
  ...more,
});
const endpointWith = (settings: Partial<ChatEndpoint> = {}): ChatEndpoint => ({
  provider: 'openai',
  upstreamModel: 'a-model',
  contextLength: 1_000_000,
  maxOutputTokens: DEFAULT_LIMIT,
  supportedParameters: [],
  inputModalities: ['text'],
  reasoningEfforts: [],
  isReasoning: false,
  hidesReasoning: false,
  prices: [dated(LIST)],
  quantization: null,
  dataPolicy: { retainsPrompts: false, trains: false },
  ...settings,
});

async function boundedCall(
  members: object,
  defaultOutputTokens: number | null = DEFAULT_LIMIT,
): Promise<BoundedCall> {
  const body = { model: 'a/b', messages: [{ role: 'user', content: 'hi' }], ...members };
  const text = JSON.stringify(body);
  const { request } = readChatRequest(body, Buffer.from(text));
  const size = await measurePrompt(request, UNHURRIED);
  return { request, size, predictionBytes: 0, defaultOutputTokens, from: FROM, until: UNTIL };
}

const served = (usage: Partial<ChatUsage>, more: Partial<ServedChat> = {}): ServedChat => ({
  endpoint: endpointWith(),
  provider: 'openai',
  endpointName: 'openai/a-model',
  isByok: false,
  usage: { ...NO_USAGE, ...usage },
  source: 'reported',
  hasFinished: true,
  serviceTier: null,
  ...more,
});
const REQUEST = { serviceTier: null, cacheWriteTtl: null, images: 0, pricedAt: FROM };

describe('the worked example', () => {
  it('reserves 52,538,400,000 picodollars for "hi" without a limit on the output', async () => {
    const call = await boundedCall({});
    expect(promptBound(call.size, endpointWith())).toBe(274);
    expect(sentOutputLimit(call.request, endpointWith(), DEFAULT_LIMIT)).toBe(32_768);
    expect(greatestChatCost(call, endpointWith())).toBe(52_538_400_000n);
  });

  it('settles 1,000 tokens of which 800 are cached, and 40 of which 30 are reasoning', () => {
    const usage = { promptTokens: 1_000, cachedTokens: 800, completionTokens: 40, reasoningTokens: 30 };
    const { charge, cost } = chargeForChat({ served: served(usage), outcome: 'answered' }, REQUEST, null);
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
    const { charge, source } = chargeForChat({ served: call, outcome: 'cancelled' }, REQUEST, null);
    expect([charge.cost, source]).toEqual([416_000_000n, 'counted']);
  });

  it('charges nothing for a broken call, and keeps a reported bill for the operator', () => {
    const usage = { promptTokens: 1_000, completionTokens: 10 };
    const counted = served(usage, { source: 'counted', hasFinished: false });
    const broken = chargeForChat({ served: counted, outcome: 'failed' }, REQUEST, null);
    expect([broken.charge.cost, broken.charge.upstreamCost, broken.source]).toEqual([0n, 0n, 'none']);
    const billed = chargeForChat({ served: served(usage), outcome: 'failed' }, REQUEST, null);
    expect([billed.charge.cost, billed.charge.upstreamCost]).toEqual([0n, 416_000_000n]);
    expect(billed.charge.unpaid).toMatchObject([{ reason: 'failed_call', amount: 416_000_000n }]);
  });
});

describe('the bound of the output', () => {
  it('is clamped to the endpoint, whatever the caller names', async () => {
    const call = await boundedCall({ max_tokens: 1_000_000_000 });
    expect(outputBound(call, endpointWith())).toBe(DEFAULT_LIMIT);
    expect(sentOutputLimit(call.request, endpointWith(), null)).toBe(DEFAULT_LIMIT);
  });

  it('names no limit where neither the caller nor a spend limit does', async () => {
    const call = await boundedCall({}, null);
    expect(sentOutputLimit(call.request, endpointWith(), null)).toBeNull();
  });

  it('is below the context where the endpoint has no maximum', async () => {
    const { maxOutputTokens: _none, ...without } = endpointWith({ contextLength: 1_000 });
    const call = await boundedCall({ max_tokens: 5_000 });
    expect(outputBound(call, without)).toBe(999);
  });

  it('is multiplied by n, which the prompt is not', async () => {
    const one = await boundedCall({ max_tokens: 10 });
    const four = await boundedCall({ max_tokens: 10, n: 4 });
    const cost = (call: BoundedCall) => greatestChatCost(call, endpointWith()) ?? 0n;
    expect(cost(four) - cost(one)).toBe(30n * 1_600_000n);
  });
});

describe('the bound of the prompt', () => {
  it('counts every text that reaches the model', async () => {
    const plain = await boundedCall({});
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
    const call = await boundedCall(texts);
    // 'abc', 'de', i, f, {}, "x" as JSON, i, the ligature in three bytes, "yz" as JSON.
    expect(call.size.textBytes).toBe(3 + 2 + 1 + 1 + 2 + 3 + 1 + 3 + 4);
    expect(promptBound(call.size, endpointWith()) - promptBound(plain.size, endpointWith())).toBe(
      20 - 2 + 32,
    );
  });

  it('bounds images by their detail, audio by its bytes, and unknown media by the context', async () => {
    const image = (detail: string) => ({
      type: 'image_url',
      image_url: { url: 'https://a.example/i.png', detail },
    });
    const audio = { type: 'input_audio', input_audio: { data: 'A'.repeat(4_000), format: 'mp3' } };
    const call = await boundedCall({
      messages: [{ role: 'user', content: [image('low'), image('auto'), image('original'), audio] }],
    });
    expect(imagesOf(call.size)).toBe(3);
    expect(promptBound(call.size, endpointWith())).toBe(1_000_000);
    const rates = { maxTokensPerImage: { low: 85, high: 1_445 }, maxTokensPerAudioSecond: 10 };
    expect(promptBound(call.size, endpointWith(rates))).toBe(272 + 85 + 1_445 + 24_600 + 30);
  });

  it('has the dearest price that a cache write, audio or a long prompt can have', async () => {
    const call = await boundedCall({ cache_control: { type: 'ephemeral', ttl: '1h' }, max_tokens: 1 });
    const prices = dated({ ...LIST, cacheWrite: 500_000n, cacheWrite1h: 800_000n });
    expect(greatestChatCost(call, endpointWith({ prices: [prices] }))).toBe(274n * 800_000n + 1_600_000n);
    const tiers = [{ minPromptTokens: 200, prompt: 900_000n }];
    const plain = await boundedCall({ max_tokens: 1 });
    expect(greatestChatCost(plain, endpointWith({ prices: [dated(LIST, { tiers })] }))).toBe(
      274n * 900_000n + 1_600_000n,
    );
  });

  it('is unknown for a tier without a price', async () => {
    const call = await boundedCall({ service_tier: 'flex' });
    expect(greatestChatCost(call, endpointWith())).toBeNull();
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
});
/** Details that are parts of their totals, as every normalised usage has them. */
function usageWithin(mostPrompt: number, mostCompletion: number): fc.Arbitrary<ChatUsage> {
  return fc
    .tuple(fc.nat(mostPrompt), fc.nat(mostCompletion), fc.nat(100), fc.nat(100), fc.nat(100))
    .map(([promptTokens, completionTokens, cached, written, thought]) => {
      const cachedTokens = Math.floor((promptTokens * cached) / 100);
      const cacheWriteTokens = Math.floor(((promptTokens - cachedTokens) * written) / 100);
      const reasoningTokens = Math.floor((completionTokens * thought) / 100);
      return Object.assign({}, NO_USAGE, {
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
    const call = await boundedCall({ max_tokens: 500, n: 2 });
    const usage = usageWithin(promptBound(call.size, endpointWith()), 1_000);
    fc.assert(
      fc.property(prices, usage, fc.constantFrom('5m' as const, '1h' as const, null), (list, used, ttl) => {
        const bounded = { ...call, request: { ...call.request, cacheWriteTtl: ttl } };
        const bound = greatestChatCost(bounded, endpointWith({ prices: [dated(list)] })) ?? -1n;
        const { total } = chatCost(list, { usage: used, images: 0, cacheWriteTtl: ttl });
        expect(total <= bound).toBe(true);
      }),
    );
  });

  it('charges at most the reservation, and records the rest as an overrun', () => {
    fc.assert(
      fc.property(usageWithin(100_000, 100_000), fc.bigInt({ min: 0n, max: 10n ** 12n }), (usage, most) => {
        const reserved = { cost: most, costWithByok: most };
        const settled = chargeForChat({ served: served(usage), outcome: 'answered' }, REQUEST, reserved);
        const { cost, upstreamCost } = settled.charge;
        expect((cost ?? 0n) <= most).toBe(true);
        expect((cost ?? 0n) + (settled.overrun ?? 0n)).toBe(upstreamCost);
        expect((settled.overrun ?? 0n) > 0n).toBe(settled.charge.unpaid.length === 1);
      }),
    );
  });

  it('never makes details dearer than the same tokens without them, where their prices are not', () => {
    fc.assert(
      fc.property(usageWithin(1_000, 1_000), (usage) => {
        const effective = {
          ...LIST,
          cacheRead: 100_000n,
          cacheWrite: 400_000n,
          cacheWrite1h: 400_000n,
          reasoning: 1_600_000n,
          audioInput: 400_000n,
          audioInputCached: 400_000n,
          audioOutput: 1_600_000n,
          image: 0n,
          request: 0n,
        };
        const priced = { images: 0, cacheWriteTtl: null };
        const plain = {
          ...NO_USAGE,
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
    const settle = (call: ServedChat, outcome: 'answered' | 'cancelled') =>
      chargeForChat({ served: call, outcome }, REQUEST, null).charge.cost;
    expect(settle(empty, 'answered')).toBe(0n);
    expect(settle(empty, 'cancelled')).toBe(20_000_000n);
    expect(settle(served({ promptTokens: 50 }), 'answered')).toBe(20_000_000n);
  });

  it('bills own provider keys to their owner', () => {
    const own = served({ promptTokens: 10, completionTokens: 1 }, { isByok: true });
    const { charge } = chargeForChat({ served: own, outcome: 'answered' }, REQUEST, null);
    expect([charge.cost, charge.upstreamCost, charge.isByok]).toEqual([0n, 5_600_000n, true]);
  });

  it('has the price of the tier that the answer names', () => {
    const endpoint = endpointWith({
      prices: [dated(LIST, { serviceTiers: { priority: { prompt: 1n, completion: 2n } } })],
    });
    const cost = (serviceTier: string | null, requested: string | null) =>
      chargeForChat(
        {
          served: served({ promptTokens: 1, completionTokens: 1 }, { endpoint, serviceTier }),
          outcome: 'answered',
        },
        { ...REQUEST, serviceTier: requested },
        null,
      ).charge.cost;
    expect(cost('priority', null)).toBe(3n);
    expect(cost('default', 'priority')).toBe(2_000_000n);
    expect(cost('a-new-tier', 'priority')).toBe(3n);
  });
});
