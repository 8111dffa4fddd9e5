import { describe, expect, it } from '@jest/globals';
import { createChatFacts } from '../../../test/support/generations/chat-generation.js';
import { chatMessage, chatRequest } from '../../../test/support/requests/chat-request.js';
import {
  createCandidate,
  createOpenDestination,
} from '../../../test/support/generations/generation-candidate.js';
import type { ChatFacts } from '../chat/chat-outcome.js';
import { compileSelection } from './destination-selection.js';
import type { FilterRule } from './filter-rules.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { contentOfChat } from '../generations/generation-content.js';
import type { Generation } from '../generations/generation.js';
import { buildTrace } from './trace-builder.js';

const CONTENT = contentOfChat(
  chatRequest([
    chatMessage('system', 'Be brief.'),
    chatMessage('user', [{ type: 'text', text: 'Which cat?' }]),
  ]),
  [0, 1].map((index) => ({
    index,
    content: `answer ${index}`,
    reasoning: 'hidden thought',
    refusal: null,
    toolCalls: [{ id: 'call', name: 'look_up', arguments: '{"colour":"black"}' }],
    finishReason: 'stop',
    nativeFinishReason: 'stop',
  })),
  null,
);

function chatCandidate(
  { chat, ...generation }: Partial<Omit<Generation, 'chat'>> & { readonly chat?: Partial<ChatFacts> } = {},
  content: GenerationCandidate['content'] = CONTENT,
): GenerationCandidate {
  return createCandidate({
    generation: {
      operation: 'chat',
      model: 'openai/gpt-4.1-mini',
      encodingFormat: null,
      dimensions: null,
      promptTokens: 1_000,
      totalTokens: 1_040,
      cost: 224_000_000n,
      ...generation,
      chat: createChatFacts(chat),
    },
    content,
  });
}
const traceOf = (...given: Parameters<typeof chatCandidate>) =>
  buildTrace(chatCandidate(...given), createOpenDestination());

describe('the trace of a chat', () => {
  it('has its name, its tokens, both sides of its cost and its content', () => {
    const trace = traceOf();
    expect(trace).toMatchObject({
      operation: 'chat',
      spanName: 'chat openai/gpt-4.1-mini',
      input: null,
      error: null,
    });
    expect(trace.chat).toMatchObject({
      completionTokens: 40,
      promptCost: 0.00016,
      completionCost: 0.000064,
      content: { messages: [{ role: 'system' }, { role: 'user' }], isInputTruncated: false },
    });
    expect(trace.cost).toBeCloseTo(trace.chat!.promptCost! + trace.chat!.completionCost!, 12);
  });

  it.each([
    ['through an own provider key', 0n, [0, 0, 0, 0]],
    ['cut to a bound', 100_000_001n, [0.000071428572, 0.000028571429, 0.000035714286, 0.000021428571]],
    ['without a price', null, [0.00016, 0.000064, 0.00008, 0.000048]],
  ])('has the parts of a charge %s', (_name, cost, parts) => {
    const { chat } = traceOf({ cost });
    expect(chat && [chat.promptCost, chat.completionCost, chat.cachedCost, chat.reasoningCost]).toEqual(
      parts,
    );
    // The cost at the provider stays under its own name.
    expect([chat?.upstreamPromptCost, chat?.upstreamCompletionCost]).toEqual([0.00016, 0.000064]);
  });

  it('has the facts of a chat, and none of embeddings', () => {
    const { facts } = traceOf();
    expect(facts).toMatchObject({
      api_type: 'completions',
      streamed: true,
      cancelled: false,
      finish_reason: 'stop',
      native_finish_reason: 'stop',
      time_to_first_token: 120,
      service_tier: 'default',
      tokens_completion: 40,
      native_tokens_prompt: 1_000,
      native_tokens_reasoning: 30,
      native_tokens_cached: 800,
      cache_discount: 0.00024,
      usage_source: 'reported',
    });
    const ofEmbeddings = new Set(['encoding_format', 'dimensions', 'input_count', 'input_type']);
    expect(Object.keys(facts).filter((name) => ofEmbeddings.has(name))).toEqual([]);
  });

  it.each([
    ['no status was sent', { status: 499, errorType: null }],
    ['no status was sent, with a type', { status: 499, errorType: 'client_closed_request' }],
    ['a part was sent', { status: 200, errorType: null }],
  ])('is no error when the client left and %s', (_name, outcome) => {
    expect(traceOf({ ...outcome, chat: { isCancelled: true } }).error).toBeNull();
  });

  it('is an error with its partial output when the provider failed in the middle', () => {
    const trace = traceOf({ status: 502, errorType: 'provider_error', chat: { finishReason: 'error' } });
    expect(trace.error).toEqual({ type: 'provider_error', message: null });
    expect(trace.chat?.content?.choices).toHaveLength(2);
  });

  it('has no content when none is stored', () => {
    expect(traceOf({}, null).chat?.content).toBeNull();
  });
});

describe('the filter fields of a chat', () => {
  const matches = (rule: FilterRule, ...given: Parameters<typeof chatCandidate>): boolean =>
    compileSelection(
      createOpenDestination({ filterRules: { enabled: true, groups: [{ logic: 'and', rules: [rule] }] } }),
    ).selects(chatCandidate(...given));

  it.each<FilterRule>([
    { field: 'finish_reason', operator: 'equals', value: 'stop' },
    { field: 'completion_tokens', operator: 'equals', value: 40 },
    { field: 'total_tokens', operator: 'equals', value: 1_040 },
    { field: 'input', operator: 'equals', value: 'Be brief.\nWhich cat?' },
    {
      field: 'output',
      operator: 'equals',
      value: 'answer 0\n{"colour":"black"}\nanswer 1\n{"colour":"black"}',
    },
  ])('match a rule on $field', (rule) => {
    expect(matches(rule)).toBe(true);
  });

  it('include what an answer refuses', () => {
    const [choice] = CONTENT.chat!.choices;
    const choices = [{ ...choice!, content: null, refusal: 'I cannot help with that.', toolCalls: [] }];
    const content = { ...CONTENT, chat: { ...CONTENT.chat!, choices } };
    const rule: FilterRule = { field: 'output', operator: 'equals', value: 'I cannot help with that.' };
    expect(matches(rule, {}, content)).toBe(true);
    expect(matches({ field: 'output', operator: 'not_exists' }, {}, content)).toBe(false);
  });

  it('have no finish reason before the end, and an unknown output without content', () => {
    const missing: FilterRule = { field: 'finish_reason', operator: 'not_exists' };
    expect(matches(missing, { chat: { finishReason: null } })).toBe(true);
    const output: FilterRule = { field: 'output', operator: 'not_contains', value: 'x' };
    expect(matches(output, {}, null)).toBe(false);
  });
});
