// Prompts against the context of endpoints, and the output that a rest of money allows.
import { describe, expect, it } from '@jest/globals';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { readChatRequest } from '../request/read-chat-request.js';
import { greatestChatCost, NO_INJECTED_LIMITS } from './chat-bound.js';
import { affordableOutputTokens, withinContext } from './chat-bounds.js';
import type { ReservedCall } from './chat-bounds.js';
import { measurePrompt, promptBound } from './prompt-size.js';
import { PromptTokens } from './prompt-tokens.js';

const FROM = new Date('2026-06-01T12:00:00Z');

function targetWith(
  endpoint: Partial<ChatEndpoint>,
  tokenizer: ChatTarget['model']['tokenizer'] = 'o200k',
  wire: object = { protocol: 'chat' },
): ChatTarget {
  const full = {
    contextLength: 1_000,
    maxOutputTokens: 500,
    prices: [{ effectiveFrom: '2026-01-01', source: 'this test', prompt: 2n, completion: 10n }],
    ...endpoint,
  };
  const model = { id: 'a/model', tokenizer };
  return { model, endpoint: full, credential: null, wire } as unknown as ChatTarget;
}

async function callWith(members: object): Promise<ReservedCall> {
  const body = { model: 'a/model', messages: [{ role: 'user', content: 'hi' }], ...members };
  const { request } = readChatRequest(body, Buffer.from(JSON.stringify(body)));
  const size = await measurePrompt(request, NEVER_YIELD);
  const tokens = new PromptTokens(request);
  return {
    request,
    size,
    tokens,
    predictionBytes: 0,
    injectedLimits: NO_INJECTED_LIMITS,
    from: FROM,
    until: FROM,
  };
}

const wordsOf = (count: number) => ({
  messages: [{ role: 'user', content: `a${' word'.repeat(count - 1)}` }],
});

describe('a prompt', () => {
  it('of as many tokens as the context has room for is not rejected, whatever its bytes are', async () => {
    const call = await callWith(wordsOf(1_000));
    const target = targetWith({});
    expect(call.size.textBytes).toBeGreaterThan(1_000);
    expect(promptBound(call.size, target.endpoint)).toBe(1_000);
    await expect(withinContext([target], call, NEVER_YIELD)).resolves.toEqual([target]);
  });

  it('of one token more is rejected with its count and the limit', async () => {
    const call = await callWith(wordsOf(1_001));
    await expect(withinContext([targetWith({})], call, NEVER_YIELD)).rejects.toMatchObject({
      status: 400,
      errorType: 'context_length_exceeded',
      metadata: { input_tokens: 1_001, max_input_tokens: 1_000 },
    });
  });

  it('leaves out the endpoints that are too small while another has room or an unknown tokenizer', async () => {
    const call = await callWith(wordsOf(1_500));
    const [small, large, unknown] = [
      targetWith({}),
      targetWith({ contextLength: 2_000 }),
      targetWith({}, null),
    ];
    await expect(withinContext([small, large], call, NEVER_YIELD)).resolves.toEqual([large]);
    await expect(withinContext([small, unknown], call, NEVER_YIELD)).resolves.toEqual([unknown]);
  });

  describe('with an output limit that does not fit behind it', () => {
    const strict = { protocol: 'chat', contextHoldsOutput: true };
    const words = (count: number, limit: number) => callWith({ ...wordsOf(count), max_tokens: limit });

    it('is rejected where the provider would reject it', async () => {
      const call = await words(601, 400);
      await expect(withinContext([targetWith({}, 'o200k', strict)], call, NEVER_YIELD)).rejects.toMatchObject(
        {
          status: 400,
          errorType: 'context_length_exceeded',
          message: expect.stringContaining('at most 1000, the output limit of 400 included'),
          metadata: { input_tokens: 601, max_input_tokens: 600 },
        },
      );
    });

    it.each([
      ['of exactly the rest of the context', 600, 400, targetWith({}, 'o200k', strict)],
      ['where the context cuts the answer', 601, 400, targetWith({})],
      [
        'where the endpoint gives no more than fits',
        601,
        400,
        targetWith({ maxOutputTokens: 300 }, 'o200k', strict),
      ],
      ['of an unknown tokenizer', 601, 400, targetWith({}, null, strict)],
    ])('is not rejected: %s', async (_name, count, limit, target) => {
      await expect(withinContext([target], await words(count, limit), NEVER_YIELD)).resolves.toEqual([
        target,
      ]);
    });
  });

  it('whose tools alone are large is left to the provider: it writes them in a form of its own', async () => {
    const parameters = { type: 'object', description: 'word '.repeat(2_000) };
    const call = await callWith({ tools: [{ type: 'function', function: { name: 'f', parameters } }] });
    await expect(withinContext([targetWith({})], call, NEVER_YIELD)).resolves.toHaveLength(1);
  });

  it('of words that are counted in parts is rejected only when it certainly exceeds the context', async () => {
    const word = 'ab'.repeat(150);
    const texts = (repeats: number) => ({
      messages: [{ role: 'user', content: Array.from({ length: repeats }, () => word).join(' ') }],
    });
    const call = await callWith(texts(20));
    const { messages } = await call.tokens.count('o200k', NEVER_YIELD);
    const contextOf = (contextLength: number) => [targetWith({ contextLength })];
    await expect(withinContext(contextOf(messages - 1), call, NEVER_YIELD)).resolves.toHaveLength(1);
    await expect(withinContext(contextOf(Math.floor(messages / 2)), call, NEVER_YIELD)).rejects.toThrow();
  });
});

describe('the affordable output', () => {
  it('is the largest output limit whose bound fits the rest', async () => {
    for (const [members, rest] of [
      [{}, 1_700n],
      [{ n: 2 }, 1_700n],
      [wordsOf(40), 3_333n],
    ] as const) {
      const call = await callWith(members);
      const target = targetWith({}, null);
      const affordable = await affordableOutputTokens([target], call, rest, NEVER_YIELD);
      const costOf = (maxOutputTokens: number) =>
        greatestChatCost({ ...call, request: { ...call.request, maxOutputTokens } }, target.endpoint) ?? -1n;
      expect(affordable).toBeGreaterThan(0);
      expect(costOf(affordable)).toBeLessThanOrEqual(rest);
      expect(costOf(affordable + 1)).toBeGreaterThan(rest);
    }
  });

  it('is 0 where the prompt alone costs more, and at most the maximum of the endpoint', async () => {
    const call = await callWith({});
    expect(await affordableOutputTokens([targetWith({})], call, 100n, NEVER_YIELD)).toBe(0);
    expect(await affordableOutputTokens([targetWith({})], call, 10n ** 12n, NEVER_YIELD)).toBe(500);
  });
});
