// Attributes of chat spans that are common to all OTLP platforms, by name. Tokens read from the cache and tokens of
// reasoning are parts of the input and output tokens. Source: docs/contract.md#deliveries.
import type { GenerationTrace, TracedChat } from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { finishReasonsOf, firstTokenSeconds, numberSetting } from '../shared/chat-forms.js';
import { decimal, flag, integer, text, texts } from './any-value.js';
import type { AnyValue } from './any-value.js';
import { copyOf, inputValue, providerName, textValue } from './attributes.js';
import type { AttributeTable } from './attributes.js';

/** A value of chat spans only. */
export const ofChat =
  (valueOf: (chat: TracedChat, trace: GenerationTrace) => AnyValue | null): AttributeTable[string] =>
  (trace) =>
    trace.chat && valueOf(trace.chat, trace);

const setting = (name: string): AttributeTable[string] =>
  ofChat((chat) => {
    const value = numberSetting(chat, name);
    return Number.isInteger(value) ? integer(value) : decimal(value);
  });
const fraction = (name: string): AttributeTable[string] =>
  ofChat((chat) => decimal(numberSetting(chat, name)));
const part = (member: 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens'): AttributeTable[string] =>
  ofChat((chat) => integer(chat[member]));
const cost = (member: 'promptCost' | 'completionCost'): AttributeTable[string] =>
  ofChat((chat, trace) => decimal(trace.cost === null ? null : chat[member]));

/** The GenAI conventions for the chat span of a client, without text of the caller. */
export const CHAT_ATTRIBUTES: AttributeTable = {
  'gen_ai.operation.name': ({ operation }) => text(operation),
  'gen_ai.provider.name': ({ provider }) => text(providerName(provider)),
  'gen_ai.request.model': ({ model }) => text(model),
  'gen_ai.request.stream': ofChat((chat) => flag(chat.isStreamed)),
  'gen_ai.request.max_tokens': setting('max_tokens'),
  'gen_ai.request.temperature': fraction('temperature'),
  'gen_ai.request.top_p': fraction('top_p'),
  'gen_ai.request.top_k': setting('top_k'),
  'gen_ai.request.seed': setting('seed'),
  'gen_ai.request.frequency_penalty': fraction('frequency_penalty'),
  'gen_ai.request.presence_penalty': fraction('presence_penalty'),
  'gen_ai.request.choice.count': setting('n'),
  'gen_ai.request.reasoning.level': ofChat(({ parameters }) => {
    const effort = parameters['reasoning_effort'];
    return typeof effort === 'string' ? text(effort) : null;
  }),
  'gen_ai.output.type': ofChat(({ parameters }) => {
    const format = parameters['response_format'];
    return text(format === 'json_object' || format === 'json_schema' ? 'json' : 'text');
  }),
  'gen_ai.conversation.id': ({ sessionId }) => text(sessionId),
  // The id that the caller received, which receivers use as the key of a generation.
  'gen_ai.response.id': ({ generationId }) => text(generationHeaderId(generationId)),
  'gen_ai.response.model': ({ upstreamModel }) => text(upstreamModel),
  'gen_ai.response.finish_reasons': ofChat((chat) => texts(finishReasonsOf(chat))),
  // Seconds.
  'gen_ai.response.time_to_first_chunk': ofChat((chat) => decimal(firstTokenSeconds(chat))),
  'gen_ai.usage.input_tokens': ({ promptTokens }) => integer(promptTokens),
  'gen_ai.usage.output_tokens': ofChat((chat) => integer(chat.completionTokens)),
  'gen_ai.usage.cache_read.input_tokens': part('cachedTokens'),
  'gen_ai.usage.cache_write.input_tokens': part('cacheWriteTokens'),
  'gen_ai.usage.reasoning.output_tokens': part('reasoningTokens'),
  'error.type': ({ error }) => text(error?.type ?? null),
};

/** The content in the form of the conventions. */
export const CHAT_CONTENT_ATTRIBUTES: AttributeTable = {
  'gen_ai.request.stop_sequences': ofChat(({ content }) => texts(content?.stop ?? [])),
  'gen_ai.system_instructions': (_trace, content) => textValue(content.systemInstructions),
  'gen_ai.input.messages': (_trace, content) => textValue(content.inputMessages),
  'gen_ai.output.messages': (_trace, content) => textValue(content.outputMessages),
  'gen_ai.tool.definitions': (_trace, content) => textValue(content.toolDefinitions),
};

/** The charge with both sides of it, and the sum of the tokens: facts that the conventions have no name for. */
export const CHAT_TOTALS: AttributeTable = {
  'gen_ai.usage.total_tokens': ({ totalTokens }) => integer(totalTokens),
  'gen_ai.usage.input_cost': cost('promptCost'),
  'gen_ai.usage.output_cost': cost('completionCost'),
  'gen_ai.usage.total_cost': (trace) => decimal(trace.cost),
  'gen_ai.usage.cost': (trace) => decimal(trace.cost),
};

/** Names of earlier conventions and of vendors that receivers still read. */
export const OLDER_CHAT_ATTRIBUTES: AttributeTable = {
  'gen_ai.system': ({ provider }) => text(providerName(provider)),
  'gen_ai.usage.prompt_tokens': ({ promptTokens }) => integer(promptTokens),
  'gen_ai.usage.completion_tokens': ofChat((chat) => integer(chat.completionTokens)),
  'gen_ai.usage.input_tokens.cached': part('cachedTokens'),
  'gen_ai.usage.cache_creation.input_tokens': part('cacheWriteTokens'),
  'gen_ai.usage.output_tokens.reasoning': part('reasoningTokens'),
  'gen_ai.response.finish_reason': ofChat((chat) => text(chat.finishReason)),
};

/** The content under the names of vendors. */
export const CHAT_COPIES: AttributeTable = {
  'gen_ai.prompt': inputValue,
  'gen_ai.completion': (_trace, { output }) => textValue(output),
  'trace.input': (_trace, { input }) => copyOf(input),
  'trace.output': (_trace, { output }) => copyOf(output),
  'span.input': (_trace, { input }) => copyOf(input),
  'span.output': (_trace, { output }) => copyOf(output),
};
