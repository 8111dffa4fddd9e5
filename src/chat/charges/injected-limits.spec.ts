// The output limits of calls under a spend limit that name none.
import { describe, expect, it } from '@jest/globals';
import { pricedEndpoint } from '../../../test/support/chat/charges.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { readChatRequest } from '../request/read-chat-request.js';
import { outputBound, sentOutputLimit } from './chat-bound.js';
import { injectedLimits } from './injected-limits.js';
import { measurePrompt } from './prompt-size.js';
import { PromptTokens } from './prompt-tokens.js';

type Tokenizer = ChatTarget['model']['tokenizer'];

const DEFAULT = 32_768;
const AT = new Date('2026-06-01T12:00:00Z');
const wordsOf = (count: number) => `a${' word'.repeat(count - 1)}`;

function targetWith(
  { maxOutputTokens, ...settings }: Partial<ChatEndpoint>,
  tokenizer: Tokenizer = 'o200k',
): ChatTarget {
  const { maxOutputTokens: _none, ...endpoint } = pricedEndpoint(settings);
  const full = { ...endpoint, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  return { model: { id: 'a/model', tokenizer }, endpoint: full, credential: null } as unknown as ChatTarget;
}

/** The limit that is sent, and the tokens that are reserved. */
async function limitsOf(
  target: ChatTarget,
  prompt: string,
  settings: { readonly members?: object; readonly defaultTokens?: number | null } = {},
): Promise<[number | null, number]> {
  const { members = {}, defaultTokens = DEFAULT } = settings;
  const body = { model: 'a/model', messages: [{ role: 'user', content: prompt }], ...members };
  const { request } = readChatRequest(body, Buffer.from(JSON.stringify(body)));
  const counted = {
    request,
    size: await measurePrompt(request, NEVER_YIELD),
    tokens: new PromptTokens(request),
  };
  const limits = await injectedLimits([target], counted, defaultTokens, NEVER_YIELD);
  const call = { ...counted, predictionBytes: 0, injectedLimits: limits, from: AT, until: AT };
  return [sentOutputLimit(call, target.endpoint), outputBound(call, target.endpoint)];
}

describe('the output limit of a call that names none', () => {
  it('is the default where the prompt leaves room for it', async () => {
    expect(await limitsOf(targetWith({ contextLength: 128_000 }), 'hi')).toEqual([DEFAULT, DEFAULT]);
  });

  it('is the maximum of the endpoint where that is smaller', async () => {
    const target = targetWith({ contextLength: 128_000, maxOutputTokens: 16_384 });
    expect(await limitsOf(target, 'hi')).toEqual([16_384, 16_384]);
  });

  it('is none where the context has no room for it whatever the prompt is', async () => {
    for (const contextLength of [8_192, DEFAULT]) {
      const limits = await limitsOf(targetWith({ contextLength }), 'hi');
      expect(limits).toEqual([null, contextLength - 1]);
    }
  });

  it('is none for a long prompt of an endpoint that gives no more than the default', async () => {
    const target = targetWith({ contextLength: 128_000, maxOutputTokens: 16_384 });
    expect(await limitsOf(target, wordsOf(111_500))).toEqual([null, 16_384]);
  });

  it('is the room that a long prompt leaves, less a margin for the count', async () => {
    const target = targetWith({ contextLength: 128_000 });
    const [sent, reserved] = await limitsOf(target, wordsOf(100_000));
    expect(sent).toBe(128_000 - 105_000 - 256 - 16);
    expect(reserved).toBe(sent);
  });

  it('is none where a long prompt leaves less than half of it', async () => {
    const target = targetWith({ contextLength: 128_000 });
    expect(await limitsOf(target, wordsOf(111_500))).toEqual([null, 127_999]);
  });

  it('counts twice the tokens of a tokenizer that is not known', async () => {
    const target = targetWith({ contextLength: 128_000 }, null);
    expect(await limitsOf(target, wordsOf(47_000))).toEqual([DEFAULT, DEFAULT]);
    const [sent] = await limitsOf(target, wordsOf(50_000));
    expect(sent).toBe(128_000 - 100_000 - 256 - 16);
  });

  it('is none beside media without a bound', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } };
    const members = { messages: [{ role: 'user', content: [image] }] };
    const target = targetWith({ contextLength: 128_000 });
    expect(await limitsOf(target, '', { members })).toEqual([null, 127_999]);
  });

  it('is none without a spend limit, and for a call that names its own', async () => {
    const target = targetWith({ contextLength: 128_000 });
    expect(await limitsOf(target, 'hi', { defaultTokens: null })).toEqual([null, 127_999]);
    expect(await limitsOf(target, 'hi', { members: { max_tokens: 9 } })).toEqual([9, 9]);
  });
});
