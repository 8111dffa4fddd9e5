import { describe, expect, it } from '@jest/globals';
import type { DatedChatPrices } from '../domain/chat/chat-model.js';
import { chatPricesOn, mostExpensiveChatPrices, utcMinute } from './chat-prices.js';
import type { PricedMoment } from './chat-prices.js';

const LISTED: DatedChatPrices = {
  effectiveFrom: '2026-01-01',
  source: 'a list',
  prompt: 100n,
  completion: 400n,
};
const NOON: PricedMoment = { promptTokens: 10, minuteOfDay: 720, serviceTier: null };

const on = (prices: readonly DatedChatPrices[], moment: Partial<PricedMoment> = {}, day = '2026-06-01') =>
  chatPricesOn({ prices }, day, { ...NOON, ...moment });

describe('chatPricesOn', () => {
  it('fills in absent prices', () => {
    expect(on([LISTED])).toEqual({
      prompt: 100n,
      completion: 400n,
      cacheRead: 100n,
      cacheWrite: 100n,
      cacheWrite1h: 100n,
      reasoning: 400n,
      audioInput: 100n,
      audioInputCached: 100n,
      audioOutput: 400n,
      image: 0n,
      request: 0n,
      webSearch: 0n,
    });
  });

  it('lets absent prices follow the ones that they come from', () => {
    const row = { ...LISTED, cacheWrite: 125n, audioInput: 300n };
    expect(on([row])).toMatchObject({ cacheRead: 100n, cacheWrite1h: 125n, audioInputCached: 300n });
    expect(on([{ ...LISTED, cacheRead: 10n }])).toMatchObject({ audioInput: 100n, audioInputCached: 10n });
  });

  it('uses the newest row of the day, whatever their order', () => {
    const later = { ...LISTED, effectiveFrom: '2026-05-01', prompt: 90n };
    expect(on([later, LISTED], {}, '2026-04-30')?.prompt).toBe(100n);
    expect(on([later, LISTED], {}, '2026-05-01')?.prompt).toBe(90n);
    expect(on([later, LISTED], {}, '2025-12-31')).toBeNull();
    expect(on([])).toBeNull();
  });

  it('applies a tier strictly above its prompt, and lets the later tier win per price', () => {
    const row = {
      ...LISTED,
      tiers: [
        { minPromptTokens: 200, prompt: 200n, completion: 600n },
        { minPromptTokens: 500, prompt: 300n },
      ],
    };
    expect(on([row], { promptTokens: 200 })).toMatchObject({ prompt: 100n, completion: 400n });
    expect(on([row], { promptTokens: 201 })).toMatchObject({
      prompt: 200n,
      completion: 600n,
      cacheRead: 200n,
    });
    expect(on([row], { promptTokens: 501 })).toMatchObject({
      prompt: 300n,
      completion: 600n,
      reasoning: 600n,
    });
  });

  it('keeps the price of the cached part in a tier that states none of its own (G34)', () => {
    const tiers = [{ minPromptTokens: 200, prompt: 200n, completion: 600n }];
    expect(on([{ ...LISTED, cacheRead: 10n, tiers }], { promptTokens: 201 })).toMatchObject({
      prompt: 200n,
      completion: 600n,
      cacheRead: 10n,
    });
  });

  it('applies a tier by the hour, across midnight as well', () => {
    const row = { ...LISTED, tiers: [{ utcStart: 990, utcEnd: 30, prompt: 50n }] };
    const at = (minute: number) => on([row], { minuteOfDay: minute })?.prompt;
    expect([989, 990, 1439, 0, 29, 30].map(at)).toEqual([100n, 50n, 50n, 50n, 50n, 100n]);
  });

  it('has the prices of a service tier, and none of an unknown one', () => {
    const row: DatedChatPrices = {
      ...LISTED,
      cacheRead: 10n,
      tiers: [{ minPromptTokens: 5, prompt: 999n }],
      serviceTiers: { priority: { prompt: 170n, completion: 700n } },
    };
    expect(on([row], { serviceTier: 'priority' })).toMatchObject({ prompt: 170n, cacheRead: 170n });
    expect(on([row], { serviceTier: 'fast' })).toMatchObject({ completion: 700n });
    for (const serviceTier of ['auto', 'default']) expect(on([row], { serviceTier })?.prompt).toBe(999n);
    for (const serviceTier of ['flex', 'constructor']) expect(on([row], { serviceTier })).toBeNull();
  });
});

describe('mostExpensiveChatPrices', () => {
  const TIERS: DatedChatPrices = {
    ...LISTED,
    tiers: [
      { minPromptTokens: 200, prompt: 200n, completion: 300n },
      { utcStart: 600, utcEnd: 700, completion: 900n },
    ],
  };
  const mostExpensive = (from: string, until: string, maxPromptTokens: number, prices = [TIERS]) =>
    mostExpensiveChatPrices(
      { prices },
      { maxPromptTokens, from: new Date(from), until: new Date(until), serviceTier: null },
    );

  it('takes the highest price of every tier that the prompt and the time can reach', () => {
    expect(mostExpensive('2026-06-01T08:00Z', '2026-06-01T08:30Z', 200)).toMatchObject({
      prompt: 100n,
      completion: 400n,
    });
    // A longer prompt is more expensive, and its output cheaper.
    expect(mostExpensive('2026-06-01T08:00Z', '2026-06-01T08:30Z', 201)).toMatchObject({
      prompt: 200n,
      completion: 400n,
    });
    expect(mostExpensive('2026-06-01T09:50Z', '2026-06-01T10:00Z', 1)?.completion).toBe(900n);
  });

  it('includes the prices of the next day', () => {
    const next = { ...LISTED, effectiveFrom: '2026-06-02', prompt: 500n };
    expect(mostExpensive('2026-06-01T23:59Z', '2026-06-02T00:00Z', 1, [TIERS, next])?.prompt).toBe(500n);
    expect(mostExpensive('2026-06-01T23:58Z', '2026-06-01T23:59Z', 1, [TIERS, next])?.prompt).toBe(100n);
  });

  it('is null where a day of the range has no known price', () => {
    expect(mostExpensive('2025-12-31T23:00Z', '2026-01-01T01:00Z', 1)).toBeNull();
  });

  it('is never below a price of the range', () => {
    const rows: DatedChatPrices[] = [
      {
        ...LISTED,
        tiers: [
          { minPromptTokens: 50, prompt: 20n, reasoning: 7n },
          { utcStart: 1_400, utcEnd: 15, prompt: 130n, cacheWrite: 900n },
          { minPromptTokens: 70, utcStart: 5, utcEnd: 10, completion: 1_000n, image: 3n },
        ],
      },
      { ...LISTED, effectiveFrom: '2026-06-02', prompt: 110n, tiers: [{ utcEnd: 4, audioInput: 800n }] },
    ];
    const from = Date.parse('2026-06-01T23:15:00Z');
    const violations: string[] = [];
    for (const minutes of [0, 4, 5, 40, 45, 50, 55, 60, 90])
      for (const maxPromptTokens of [0, 50, 51, 70, 71, 100]) {
        const until = new Date(from + minutes * 60_000).toISOString();
        const bound = mostExpensive(new Date(from).toISOString(), until, maxPromptTokens, rows);
        for (let minute = 0; minute <= minutes; minute++) {
          const moment = new Date(from + minute * 60_000);
          for (const promptTokens of [0, 50, 51, 70, 71, 100].filter((tokens) => tokens <= maxPromptTokens)) {
            const at = { promptTokens, minuteOfDay: utcMinute(moment), serviceTier: null };
            const prices = chatPricesOn({ prices: rows }, moment.toISOString().slice(0, 10), at);
            for (const [name, price] of Object.entries(prices ?? {}))
              if (price > (bound?.[name as keyof typeof bound] ?? -1n))
                violations.push(`${name} at ${until} with ${promptTokens}`);
          }
        }
      }
    expect(violations).toEqual([]);
  });
});
