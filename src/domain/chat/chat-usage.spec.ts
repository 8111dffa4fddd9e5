import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { normaliseChatUsage, readReportedChatUsage } from './chat-usage.js';
import type { ReportedChatUsage } from './chat-usage.js';

const read = (usage: unknown): ReportedChatUsage => {
  const reported = readReportedChatUsage(usage);
  if (!reported) throw new Error('no usage');
  return reported;
};
const normalised = (usage: unknown) => normaliseChatUsage(read(usage));

describe('a report', () => {
  it('has the members of the wire, and null for those that are absent', () => {
    expect(
      read({
        prompt_tokens: 9,
        completion_tokens: 0,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: null,
      }),
    ).toMatchObject({
      promptTokens: 9,
      completionTokens: 0,
      totalTokens: null,
      cachedTokens: 4,
      audioInputTokens: null,
      reasoningTokens: null,
    });
  });

  it.each([null, undefined, 5, 'usage', []])('%p is none', (value) => {
    expect(readReportedChatUsage(value)).toBeNull();
  });
});

describe('normalised usage', () => {
  it.each([
    ['Anthropic', { server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } }, 3],
    ['Perplexity', { num_search_queries: 4 }, 4],
    ['xAI', { num_sources_used: 5 }, 5],
    ['no provider', { server_tool_use: { web_search_requests: -1, text: 'x' }, num_sources_used: null }, 0],
  ])('counts the searches of the provider as %s reports them', (_name, members, uses) => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, ...members };
    expect(normalised(usage)).toMatchObject({ isConsistent: true, usage: { providerToolUses: uses } });
  });

  it('cuts parts to their total, in the order of the details', () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 40,
      prompt_tokens_details: { cached_tokens: 800, audio_tokens: 300 },
      completion_tokens_details: { reasoning_tokens: 50, audio_tokens: 1 },
    };
    expect(normalised(usage)).toEqual({
      isConsistent: false,
      usage: expect.objectContaining({
        promptTokens: 1_000,
        completionTokens: 40,
        cachedTokens: 800,
        cachedAudioTokens: 100,
        audioInputTokens: 200,
        reasoningTokens: 40,
        audioOutputTokens: 0,
      }),
    });
  });

  it.each([
    ['none where both fit', 1_000, 600, 400, 0],
    ['the part that does not fit beside the cached tokens', 1_000, 800, 900, 700],
    ['at most the cached tokens', 1_000, 100, 5_000, 100],
  ])('has as cached audio %s', (_name, prompt, cached, audio, cachedAudioTokens) => {
    const details = { cached_tokens: cached, audio_tokens: audio };
    const usage = { prompt_tokens: prompt, completion_tokens: 1, prompt_tokens_details: details };
    expect(normalised(usage)?.usage.cachedAudioTokens).toBe(cachedAudioTokens);
  });

  it.each([
    [
      'reasoning beside the completion',
      10_120,
      4_308,
      2_809,
      128,
      0,
      {
        prompt_tokens: 10_120,
        completion_tokens: 1_499,
        total_tokens: 14_428,
        completion_tokens_details: { reasoning_tokens: 2_809 },
        prompt_tokens_details: { cached_tokens: 128 },
      },
    ],
    [
      'reasoning inside the completion',
      500,
      500,
      200,
      0,
      0,
      {
        prompt_tokens: 500,
        completion_tokens: 500,
        total_tokens: 1_000,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
    ],
    [
      'reasoning above the completion, without a proof',
      500,
      100,
      100,
      0,
      0,
      {
        prompt_tokens: 500,
        completion_tokens: 100,
        total_tokens: 777,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
    ],
    [
      'reasoning above the completion, without a total',
      500,
      100,
      100,
      0,
      0,
      {
        prompt_tokens: 500,
        completion_tokens: 100,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
    ],
    [
      'the cache inside the prompt, at the top',
      10_000,
      50,
      0,
      8_000,
      1_000,
      {
        prompt_tokens: 10_000,
        completion_tokens: 50,
        total_tokens: 10_050,
        cache_read_input_tokens: 8_000,
        cache_creation_input_tokens: 1_000,
      },
    ],
    [
      'the cache beside the prompt',
      10_000,
      50,
      0,
      8_000,
      1_000,
      {
        prompt_tokens: 1_000,
        completion_tokens: 50,
        total_tokens: 10_050,
        cache_read_input_tokens: 8_000,
        cache_creation_input_tokens: 1_000,
      },
    ],
    [
      'the cache beside the prompt, without a proof',
      1_000,
      50,
      0,
      1_000,
      0,
      {
        prompt_tokens: 1_000,
        completion_tokens: 50,
        cache_read_input_tokens: 8_000,
        cache_creation_input_tokens: 1_000,
      },
    ],
    [
      'cache and reasoning beside both',
      900,
      70,
      20,
      800,
      0,
      {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 970,
        cached_tokens: 800,
        output_tokens_details: { reasoning_tokens: 20 },
      },
    ],
  ])('has %s', (_name, prompt, completion, reasoning, cached, written, report) => {
    expect(normalised(report)?.usage).toMatchObject({
      promptTokens: prompt,
      completionTokens: completion,
      reasoningTokens: reasoning,
      cachedTokens: cached,
      cacheWriteTokens: written,
    });
  });

  it('takes the completion from the total where only that is reported', () => {
    expect(normalised({ prompt_tokens: 3, total_tokens: 10 })?.usage.completionTokens).toBe(7);
  });

  it('an explicit 0 stays', () => {
    expect(normalised({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toMatchObject({
      isConsistent: true,
      usage: { promptTokens: 0, completionTokens: 0 },
    });
  });

  it.each([
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    { prompt_tokens: 2 ** 31, completion_tokens: 1 },
    { prompt_tokens: 2 ** 31 - 1, completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: -5 } },
    { completion_tokens: 1, total_tokens: 2 },
    { prompt_tokens: 1 },
    { prompt_tokens: '1', completion_tokens: 1 },
  ])('%j cannot be used', (usage) => {
    expect(normalised(usage)).toBeNull();
  });

  it('never has parts above their total', () => {
    const tokens = fc.oneof(
      { weight: 8, arbitrary: fc.nat(1_000) },
      { weight: 4, arbitrary: fc.constant(null) },
      fc.nat(),
      fc.integer(),
      fc.double(),
    );
    const names = Object.keys(read({}));
    fc.assert(
      fc.property(fc.array(tokens, { minLength: names.length, maxLength: names.length }), (values) => {
        const reported = Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]));
        const result = normaliseChatUsage(reported as ReportedChatUsage);
        if (!result) return;
        const { usage } = result;
        const { cacheWrite1hTokens, ...parts } = usage;
        // Null: those written for an hour are not reported.
        for (const part of [...Object.values(parts), cacheWrite1hTokens ?? 0])
          expect(Number.isInteger(part) && part >= 0).toBe(true);
        expect(cacheWrite1hTokens ?? 0).toBeLessThanOrEqual(usage.cacheWriteTokens);
        expect(
          usage.cachedTokens + usage.cacheWriteTokens + usage.audioInputTokens + usage.videoInputTokens,
        ).toBeLessThanOrEqual(usage.promptTokens);
        expect(usage.reasoningTokens + usage.audioOutputTokens + usage.imageOutputTokens).toBeLessThanOrEqual(
          usage.completionTokens,
        );
      }),
      { numRuns: 500 },
    );
  });
});
