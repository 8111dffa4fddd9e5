// The usage of calls without a report: counts and estimates (docs/contract.md#chat-usage).
import { describe, expect, it } from '@jest/globals';
import { readChat } from '../../../test/support/chat/read-chat.js';
import { readReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import { shippedCatalogue } from '../../routing/catalogue-source.js';
import { findProvider } from '../../providers/index.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { measurePrompt, promptBound } from '../charges/prompt-size.js';
import { NO_ANSWER, usageOf } from './call-usage.js';

const { chatModels } = shippedCatalogue();
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const AUDIO = { type: 'input_audio', input_audio: { data: 'A'.repeat(64_000), format: 'mp3' } };
const DOCUMENT = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0xLjcK' } };
const NOTES = { type: 'file', file: { file_data: `data:text/plain;base64,${'A'.repeat(4_000)}` } };
const VIDEO = { type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } };
const TEXT = { type: 'text', text: 'hi' };

function targetOf(id: string, provider: string, changes: Partial<ChatEndpoint> = {}): ChatTarget {
  const model = chatModels.find((shipped) => shipped.id === id)!;
  const endpoint = model.endpoints.find((served) => served.provider === provider)!;
  return {
    model,
    endpoint: { ...endpoint, ...changes },
    wire: findProvider(provider)?.chat,
    credential: null,
  } as unknown as ChatTarget;
}

async function countedPrompt(target: ChatTarget, ...content: readonly object[]): Promise<number> {
  const { request } = readChat({ messages: [{ role: 'user', content }] });
  const size = await measurePrompt(request, NEVER_YIELD);
  const facts = { request, size, target, outputBound: 100, seconds: 1, hidesTokens: false };
  const { usage, source } = await usageOf('caller_left', NO_ANSWER, facts, NEVER_YIELD);
  expect(source).toBe('counted');
  return usage.promptTokens;
}

/** Tokens beside those of the text. */
async function countedMedia(target: ChatTarget, ...parts: readonly object[]): Promise<number> {
  return (await countedPrompt(target, TEXT, ...parts)) - (await countedPrompt(target, TEXT));
}

describe('the count of a prompt with media', () => {
  const maverick = targetOf('meta-llama/llama-4-maverick', 'together');

  it('has typical tokens where the catalogue has no bound but the context', async () => {
    const { request } = readChat({ messages: [{ role: 'user', content: [TEXT, IMAGE] }] });
    expect(promptBound(await measurePrompt(request, NEVER_YIELD), maverick.endpoint)).toBe(524_288);
    expect(await countedMedia(maverick, IMAGE)).toBe(1_024);
    expect(await countedMedia(maverick, IMAGE, IMAGE)).toBe(2_048);
  });

  it('stays below the tier of long prompts for an image', async () => {
    const gemini = targetOf('google/gemini-3.1-pro-preview', 'google');
    expect(await countedMedia(gemini, IMAGE)).toBe(1_120);
  });

  it('is far below the context for one image at every shipped endpoint', async () => {
    for (const { id, endpoints } of chatModels)
      for (const { provider, inputModalities, contextLength } of endpoints)
        if (inputModalities.includes('image'))
          expect(await countedMedia(targetOf(id, provider), IMAGE)).toBeLessThan(contextLength / 4);
  });

  it('knows the length of audio, video and files by their bytes', async () => {
    // 48,000 bytes of mp3, 11 bytes of a document, 3,000 bytes of text.
    expect(await countedMedia(maverick, AUDIO)).toBe(3 * 32);
    expect(await countedMedia(maverick, DOCUMENT)).toBe(1_000);
    expect(await countedMedia(maverick, NOTES)).toBe(750);
    expect(await countedMedia(maverick, VIDEO)).toBe(60 * 290);
  });

  it('uses the rate of the endpoint, and never exceeds its bounds', async () => {
    const rates = { tokensPerImage: { low: 10, high: 50 } };
    const endpoint = (changes: Partial<ChatEndpoint>) =>
      targetOf('meta-llama/llama-4-maverick', 'together', changes);
    expect(await countedMedia(endpoint(rates), IMAGE)).toBe(50);
    const low = { ...IMAGE, image_url: { ...IMAGE.image_url, detail: 'low' } };
    expect(await countedMedia(endpoint(rates), low)).toBe(10);
    expect(await countedMedia(endpoint({ maxTokensPerImage: { low: 5, high: 20 } }), IMAGE)).toBe(20);
    const bounds = { maxTokensPerFile: 30, maxTokensPerVideo: 40, maxTokensPerAudioSecond: 2 };
    expect(await countedMedia(endpoint(bounds), DOCUMENT, VIDEO, AUDIO)).toBe(30 + 40 + 3 * 2);
    expect(await countedPrompt(endpoint({ contextLength: 100 }), TEXT, IMAGE)).toBe(100);
  });
});

describe('an estimate', () => {
  it('adds hidden tokens for the time since the request, at most to the bound of the output', async () => {
    const { request } = readChat({ messages: [{ role: 'user', content: [IMAGE] }] });
    const target = targetOf('google/gemini-3.1-pro-preview', 'google');
    const facts = {
      request,
      size: await measurePrompt(request, NEVER_YIELD),
      target,
      outputBound: 500,
      seconds: 2,
      hidesTokens: true,
    };
    const estimate = async (seconds: number) =>
      (await usageOf('caller_left', NO_ANSWER, { ...facts, seconds }, NEVER_YIELD)).usage;
    expect(await estimate(2)).toMatchObject({ promptTokens: 4 + 1_120, completionTokens: 400 });
    expect(await estimate(60)).toMatchObject({ promptTokens: 4 + 1_120, completionTokens: 500 });
  });

  it('has hidden tokens of every choice', async () => {
    const { request } = readChat({ n: 2 });
    const size = await measurePrompt(request, NEVER_YIELD);
    const target = targetOf('openai/gpt-4.1-mini', 'openai');
    const facts = { request, size, target, outputBound: 5_000, seconds: 2, hidesTokens: true };
    const { usage, source } = await usageOf('own_timeout', NO_ANSWER, facts, NEVER_YIELD);
    expect([usage.completionTokens, source]).toEqual([800, 'estimated']);
  });

  it('has tokens for the bytes of an answer that is larger than this service reads', async () => {
    const { request } = readChat({ logprobs: true, top_logprobs: 20 });
    const size = await measurePrompt(request, NEVER_YIELD);
    const target = targetOf('openai/gpt-4.1-mini', 'openai');
    const facts = { request, size, target, outputBound: 50_000, seconds: 0, hidesTokens: false };
    const unread = { ...NO_ANSWER, unreadBytes: 2 ** 24 };
    const { usage, source } = await usageOf('own_bound', unread, facts, NEVER_YIELD);
    expect([usage.completionTokens, source]).toEqual([Math.ceil(2 ** 24 / (4 + 21 * 80)), 'estimated']);
  });
});

describe('usage that was reported in the middle of an answer', () => {
  it('is a lower bound of the count', async () => {
    const { request } = readChat({});
    const size = await measurePrompt(request, NEVER_YIELD);
    const target = targetOf('openai/gpt-4.1-mini', 'openai');
    const facts = { request, size, target, outputBound: 100, seconds: 1, hidesTokens: false };
    const usage = readReportedChatUsage({ prompt_tokens: 3, completion_tokens: 40 });
    const received = { ...NO_ANSWER, usage, outputCount: { texts: ['one two'], factor: 1, unreadBytes: 0 } };
    const settled = await usageOf('caller_left', received, facts, NEVER_YIELD);
    expect([settled.usage.completionTokens, settled.source]).toEqual([40, 'counted']);
    expect(settled.usage.promptTokens).toBeGreaterThan(3);
  });
});
