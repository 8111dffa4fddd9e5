// Traces of chats as encoders get them, each under the name of what it shows.
import type { ChatChoice } from '../../../src/domain/chat/chat-outcome.js';
import type { ContentMessage } from '../../../src/domain/generations/chat-content.js';
import type {
  GenerationTrace,
  TracedChat,
  TracedChatContent,
} from '../../../src/domain/generations/generation-trace.js';
import { createChatFacts } from '../generations/chat-generation.js';

const KIBIBYTE = 1024;

const TOOL = {
  type: 'function',
  function: {
    name: 'find_cats',
    description: 'Finds cats in a picture.',
    parameters: { type: 'object', properties: { colour: { type: 'string' } } },
  },
};
const call = (id: string, text: string) => ({ id, name: 'find_cats', arguments: text });
const wireCall = (id: string, text: string) =>
  ({ id, type: 'function', function: { name: 'find_cats', arguments: text } }) as const;

const answer = (overrides: Partial<ChatChoice> = {}): ChatChoice => ({
  index: 0,
  content: 'I see one black cat.',
  reasoning: null,
  refusal: null,
  toolCalls: [],
  finishReason: 'stop',
  nativeFinishReason: 'stop',
  ...overrides,
});

const CONVERSATION: readonly ContentMessage[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    name: 'ada',
    content: [
      { type: 'text', text: 'Which cats are in these “pictures” 🙂?' },
      { type: 'text', text: '[image/png, 48213 bytes]' },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
    ],
  },
  { role: 'assistant', content: null, tool_calls: [wireCall('call_1', '{"colour":"black"}')] },
  { role: 'tool', tool_call_id: 'call_1', content: '{"count":1}' },
];

function contentOf(overrides: Partial<TracedChatContent> = {}): TracedChatContent {
  return {
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    stop: [],
    responseSchema: null,
    choices: [answer()],
    isInputTruncated: false,
    isOutputTruncated: false,
    ...overrides,
  };
}

function chatOf({ content, ...overrides }: Partial<TracedChat> = {}): TracedChat {
  const sides = { promptCost: 0.00016, completionCost: 0.000064, ...overrides };
  return {
    ...createChatFacts(),
    overrun: null,
    promptCost: sides.promptCost,
    completionCost: sides.completionCost,
    upstreamPromptCost: sides.promptCost,
    upstreamCompletionCost: sides.completionCost,
    cachedCost: 0.00008,
    cacheWriteCost: 0,
    reasoningCost: 0.000048,
    cacheDiscount: 0.00024,
    parameters: { temperature: 0.2, max_tokens: 500 },
    content: content === undefined ? contentOf() : content,
    ...overrides,
  };
}

const ATTEMPT = {
  provider: 'openai',
  endpoint: 'openai/gpt-4.1-mini',
  status: 200,
  errorType: null,
  durationMs: 40,
};

/** The differences of an ordinary chat from the ordinary trace. */
export function chatTrace({
  chat,
  ...overrides
}: Partial<Omit<GenerationTrace, 'chat'>> & {
  readonly chat?: Partial<TracedChat>;
} = {}): Partial<GenerationTrace> {
  return {
    operation: 'chat',
    spanName: 'chat openai/gpt-4.1-mini',
    model: 'openai/gpt-4.1-mini',
    upstreamModel: 'gpt-4.1-mini-2026-04-14',
    upstreamId: 'chatcmpl-1',
    inputCount: 0,
    promptTokens: 1_000,
    totalTokens: 1_040,
    cost: 0.000224,
    dimensions: null,
    encodingFormat: null,
    inputType: null,
    input: null,
    attempts: [ATTEMPT],
    ...overrides,
    chat: chatOf(chat),
  };
}

const NO_TOKENS: Partial<TracedChat> = {
  completionTokens: 0,
  reasoningTokens: 0,
  cachedTokens: 0,
  usageSource: 'none',
  reportedTokens: null,
  promptCost: 0,
  completionCost: 0,
  cachedCost: 0,
  reasoningCost: 0,
  cacheDiscount: null,
};

/** Streamed, with an image, tools, cached and reasoning tokens. */
export const TOOLS_CHAT = chatTrace({
  durationMs: 2_000,
  chat: {
    finishReason: 'tool_calls',
    nativeFinishReason: 'stop',
    parameters: { temperature: 0.2, max_tokens: 500, reasoning_effort: 'low', tool_choice: 'auto' },
    mediaCount: 2,
    content: contentOf({
      messages: CONVERSATION,
      tools: [TOOL],
      stop: ['END', '\n\n'],
      choices: [
        answer({
          content: null,
          reasoning: 'One is black, “the other” may be grey.',
          toolCalls: [call('call_2', '{"colour":"grey"}'), call('call_3', '{"colour":')],
          finishReason: 'tool_calls',
        }),
      ],
    }),
  },
});

export const GOLDEN_CHATS: Readonly<Record<string, Partial<GenerationTrace>>> = {
  'a streamed chat with tools, an image, cached and reasoning tokens': TOOLS_CHAT,
  'a chat that failed in the middle': chatTrace({
    status: 502,
    error: { type: 'provider_error', message: 'The provider ended its answer early' },
    promptTokens: 0,
    totalTokens: 0,
    cost: 0,
    chat: {
      ...NO_TOKENS,
      finishReason: 'error',
      nativeFinishReason: null,
      content: contentOf({
        choices: [answer({ content: 'I see o', finishReason: 'error', nativeFinishReason: null })],
      }),
    },
    attempts: [
      { ...ATTEMPT, status: 429, errorType: 'rate_limit_exceeded', durationMs: 3 },
      { ...ATTEMPT, errorType: 'provider_error', droppedMembers: ['seed'], firstContentMs: 12 },
    ],
  }),
  'a chat that failed before any answer': chatTrace({
    status: 429,
    provider: null,
    upstreamModel: null,
    upstreamId: null,
    error: { type: 'rate_limit_exceeded', message: 'Rate limit exceeded' },
    promptTokens: 0,
    totalTokens: 0,
    cost: 0,
    chat: {
      ...NO_TOKENS,
      finishReason: null,
      nativeFinishReason: null,
      timeToFirstTokenMs: null,
      serviceTier: null,
      content: contentOf({ choices: [] }),
    },
    attempts: [],
  }),
  'a chat that the client cancelled': chatTrace({
    chat: {
      isCancelled: true,
      usageSource: 'counted',
      reportedTokens: null,
      cachedTokens: 0,
      reasoningTokens: 0,
      cachedCost: 0,
      reasoningCost: 0,
      finishReason: null,
      nativeFinishReason: null,
      content: contentOf({
        choices: [answer({ content: 'I see', finishReason: null, nativeFinishReason: null })],
      }),
    },
  }),
  'a chat without usage, not streamed, with two answers': chatTrace({
    cost: null,
    chat: {
      usageSource: 'counted',
      reportedTokens: null,
      isStreamed: false,
      timeToFirstTokenMs: null,
      promptCost: null,
      completionCost: null,
      cachedCost: null,
      cacheWriteCost: null,
      reasoningCost: null,
      cacheDiscount: null,
      serviceTier: null,
      parameters: { n: 2, response_format: 'json_object' },
      content: contentOf({
        choices: [answer({ content: '{"cats":1}' }), answer({ index: 1, content: null, refusal: 'No.' })],
      }),
    },
  }),
  'a chat that the model refused': chatTrace({
    chat: {
      content: contentOf({ choices: [answer({ content: null, refusal: 'I cannot help with that.' })] }),
    },
  }),
  'a chat in privacy mode': chatTrace({ chat: { content: null } }),
};

const messages = (count: number, text: string): readonly ContentMessage[] =>
  Array.from({ length: count }, (_value, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${text}`,
  }));

/** 600 tokens of the prompt are read from the cache, 300 written to it. */
export const CACHE_WRITES_CHAT = chatTrace({
  chat: {
    cachedTokens: 600,
    cacheWriteTokens: 300,
    cachedCost: 0.00003,
    cacheWriteCost: 0.00012,
  },
});

/** Chats that make encoders stumble. */
export const CHAT_CASES: Readonly<Record<string, Partial<GenerationTrace>>> = {
  ...GOLDEN_CHATS,
  'a chat that writes to the cache': CACHE_WRITES_CHAT,
  'a chat with a hundred keys of metadata': chatTrace({
    metadata: Object.fromEntries(Array.from({ length: 100 }, (_value, index) => [`key-${index}`, 'value'])),
  }),
  'a chat with texts of all the world': chatTrace({
    chat: {
      content: contentOf({
        messages: [
          {
            role: 'user',
            name: 'ключ 🔑',
            content: '日本語 \u0000\u001f\u007f \ud800 alone "quoted" \\ back',
          },
          { role: 'assistant', content: '', tool_calls: [wireCall('ß\t7', '\u2028{"a":"\ud83d"}')] },
          { role: 'user', content: [] },
        ],
        choices: [answer({ content: '\ufeff{"json":true}\u0000', reasoning: '\ude42' })],
      }),
    },
  }),
  'a chat of a thousand messages': chatTrace({
    chat: { content: contentOf({ messages: messages(1_000, 'x'.repeat(100)) }) },
  }),
  '256 KiB of content in a chat, and as much output': chatTrace({
    chat: {
      content: contentOf({
        messages: messages(4, 'x'.repeat(64 * KIBIBYTE)),
        tools: [TOOL],
        choices: [answer({ content: 'y'.repeat(256 * KIBIBYTE) })],
        isInputTruncated: true,
        isOutputTruncated: true,
      }),
    },
  }),
  '256 KiB of content in a chat that grows when it is escaped': chatTrace({
    chat: {
      content: contentOf({
        messages: messages(2, '"\\\u0001'.repeat((128 * KIBIBYTE) / 3)),
        choices: [answer({ content: '日本'.repeat((256 * KIBIBYTE) / 6) })],
      }),
    },
  }),
};
