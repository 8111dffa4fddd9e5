// Reports of providers in each wire, and what they cost: sums that other gateways got wrong in public, to the last digit.
import { describe, expect, it } from '@jest/globals';
import { chatPricesOn } from '../../catalogue/chat-prices.js';
import { normaliseChatUsage, readReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { readGeminiUsage } from '../../providers/shared/wires/gemini-usage.js';
import { MessagesUsage } from '../../providers/shared/wires/messages-usage.js';
import { toChatUsageDto } from '../dto/chat-usage.dto.js';
import { messagesUsageMembers } from '../clients/messages-usage.js';
import { chatCost } from './chat-cost.js';

/** Picodollars a token, of USD a million. */
const priceOf = (usd: number): bigint => BigInt(Math.round(usd * 1e6));
const prices = (prompt: number, cacheRead: number, cacheWrite: number, completion: number) => ({
  prompt: priceOf(prompt),
  cacheRead: priceOf(cacheRead),
  cacheWrite: priceOf(cacheWrite),
  cacheWrite1h: priceOf(prompt * 2),
  completion: priceOf(completion),
});
const LISTED = prices(2, 0.1, 2.5, 10);
const messages = (usage: object): ReportedChatUsage | null => new MessagesUsage().read(usage, false);

interface Bill {
  readonly report: ReportedChatUsage | null;
  readonly listed: ReturnType<typeof prices>;
  readonly usd: number;
  readonly prompt: number;
}

const BILLS: Readonly<Record<string, Bill>> = {
  'written tokens of Messages, beside a small rest': {
    report: messages({ input_tokens: 6, cache_creation_input_tokens: 159_217, output_tokens: 2_745 }),
    listed: prices(5, 0.5, 6.25, 25),
    usd: 1.06376125,
    prompt: 159_223,
  },
  'written tokens of Messages for a client of Chat': {
    report: messages({ input_tokens: 3, cache_creation_input_tokens: 12_304, output_tokens: 550 }),
    listed: prices(3, 0.3, 3.75, 15),
    usd: 0.054399,
    prompt: 12_307,
  },
  'fresh, read and written tokens of Messages': {
    report: messages({
      input_tokens: 2_000,
      cache_read_input_tokens: 80_000,
      cache_creation_input_tokens: 5_000,
      output_tokens: 1_000,
    }),
    listed: LISTED,
    usd: 0.0345,
    prompt: 87_000,
  },
  'written tokens of two lives': {
    report: messages({
      input_tokens: 2_000,
      cache_read_input_tokens: 80_000,
      cache_creation_input_tokens: 5_000,
      cache_creation: { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 3_000 },
      output_tokens: 1_000,
    }),
    listed: LISTED,
    usd: 0.039,
    prompt: 87_000,
  },
  'written tokens of Responses, inside of the input': {
    report: readReportedChatUsage({
      input_tokens: 1_200,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 1_000 },
      output_tokens: 0,
      total_tokens: 1_200,
    }),
    listed: LISTED,
    usd: 0.0029,
    prompt: 1_200,
  },
  'cached tokens of Gemini, inside of the prompt': {
    report: readGeminiUsage({
      promptTokenCount: 262_960,
      cachedContentTokenCount: 257_955,
      candidatesTokenCount: 1_744,
      totalTokenCount: 264_704,
    }),
    listed: prices(1.25, 0.625, 1.25, 10),
    usd: 0.184918125,
    prompt: 262_960,
  },
  'thoughts of Gemini, beside the candidates': {
    report: readGeminiUsage({
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 300,
      totalTokenCount: 420,
    }),
    listed: LISTED,
    usd: 0.0034,
    prompt: 100,
  },
};

describe('the bill of a report', () => {
  it.each(Object.entries(BILLS))('counts each token once: %s', (_name, { report, listed, usd, prompt }) => {
    const normalised = report && normaliseChatUsage(report);
    const row = { effectiveFrom: '2026-01-01', source: 'this test', ...listed };
    const moment = { promptTokens: prompt, minuteOfDay: 0, serviceTier: null };
    const effective = chatPricesOn({ prices: [row] }, '2026-06-01', moment);
    if (!normalised || !effective) throw new Error('the report or its price is missing');
    const { usage, isConsistent } = normalised;
    const { total } = chatCost(effective, { usage, images: 0, cacheWriteTtl: null });
    expect([usage.promptTokens, usdToNumber(total), isConsistent]).toEqual([prompt, usd, true]);
  });

  it('shows a client of Chat the written tokens as a part of its prompt, and one of Messages beside its input', () => {
    const report = messages({ input_tokens: 3, cache_creation_input_tokens: 12_304, output_tokens: 550 });
    const usage = report && normaliseChatUsage(report)?.usage;
    if (!usage) throw new Error('no usage');
    const cost = { charged: null, isByok: false, upstream: null, prompt: null, completion: null };
    expect(toChatUsageDto(usage, cost)).toMatchObject({
      prompt_tokens: 12_307,
      completion_tokens: 550,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 12_304 },
    });
    expect(messagesUsageMembers(usage)).toMatchObject({
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      output_tokens: 550,
    });
  });
});
