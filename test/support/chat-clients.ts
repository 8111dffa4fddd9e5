// Real clients that stream a chat, each with its own defaults but for repeats, and what its user reads.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import type { AIMessageChunk, UsageMetadata } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { jsonSchema, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import OpenAI from 'openai';
import OpenAI4 from 'openai4';
import OpenAI5 from 'openai5';

export interface ChatCallOfClient {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** Names of functions. */
  readonly tools?: readonly string[];
}

export interface ReadChatOfClient {
  readonly text: string;
  /** With `-` for `_`: some clients have spellings of their own. */
  readonly finishReason: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly promptTokens: number;
  readonly completionTokens: number;
}

type StreamChat = (call: ChatCallOfClient) => Promise<ReadChatOfClient>;

const MESSAGE = { role: 'user' as const, content: 'hi' };
const PARAMETERS = { type: 'object' as const, properties: {} };

const functionsOf = ({ tools = [] }: ChatCallOfClient) =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map((name) => ({
          type: 'function' as const,
          function: { name, parameters: PARAMETERS },
        })),
      };

/** The helper of the package joins the fragments itself. */
function openAi(Client: typeof OpenAI): StreamChat {
  return async (call) => {
    const client = new Client({ apiKey: call.apiKey, baseURL: call.baseUrl, maxRetries: 0 });
    const { chat, beta } = client as OpenAI & { readonly beta: { readonly chat?: OpenAI['chat'] } };
    const stream = (beta.chat?.completions ?? chat.completions).stream({
      model: call.model,
      messages: [MESSAGE],
      stream: true,
      stream_options: { include_usage: true },
      ...functionsOf(call),
    });
    const { choices, usage } = await stream.finalChatCompletion();
    const [choice] = choices;
    return {
      text: choice?.message.content ?? '',
      finishReason: (choice?.finish_reason ?? '').replace('_', '-'),
      calls: (choice?.message.tool_calls ?? []).flatMap((made) =>
        'function' in made
          ? [{ id: made.id, name: made.function.name, arguments: made.function.arguments }]
          : [],
      ),
      promptTokens: usage?.prompt_tokens ?? NaN,
      completionTokens: usage?.completion_tokens ?? NaN,
    };
  };
}

const openRouterSdk: StreamChat = async (call) => {
  const client = new OpenRouter({
    apiKey: call.apiKey,
    serverURL: call.baseUrl,
    retryConfig: { strategy: 'none' },
  });
  const events = await client.chat.send({
    chatRequest: { model: call.model, messages: [MESSAGE], stream: true, ...functionsOf(call) },
  });
  if (!(Symbol.asyncIterator in events)) throw new Error('the answer is no stream');
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  let text = '';
  let finishReason = '';
  let usage = { promptTokens: NaN, completionTokens: NaN };
  for await (const chunk of events) {
    for (const { delta, finishReason: reason } of chunk.choices) {
      text += delta.content ?? '';
      if (reason) finishReason = String(reason);
      for (const { index, id, function: part } of delta.toolCalls ?? []) {
        const made = calls.get(index) ?? { id: id ?? '', name: part?.name ?? '', arguments: '' };
        calls.set(index, { ...made, arguments: made.arguments + (part?.arguments ?? '') });
      }
    }
    if (chunk.usage) {
      const { promptTokens, completionTokens } = chunk.usage;
      usage = { promptTokens, completionTokens };
    }
  }
  return { text, finishReason: finishReason.replace('_', '-'), calls: [...calls.values()], ...usage };
};

/** Arguments come parsed. */
function aiSdk(modelOf: (call: ChatCallOfClient) => LanguageModel): StreamChat {
  return async (call) => {
    const names = call.tools ?? [];
    const result = streamText({
      model: modelOf(call),
      messages: [MESSAGE],
      maxRetries: 0,
      onError: () => undefined,
      tools: Object.fromEntries(names.map((name) => [name, tool({ inputSchema: jsonSchema(PARAMETERS) })])),
    });
    const [text, finishReason, usage, calls] = await Promise.all([
      result.text,
      result.finishReason,
      result.totalUsage,
      result.toolCalls,
    ]);
    return {
      text,
      finishReason,
      calls: calls.map(({ toolCallId, toolName, input }) => ({
        id: toolCallId,
        name: toolName,
        arguments: JSON.stringify(input),
      })),
      promptTokens: usage.inputTokens ?? NaN,
      completionTokens: usage.outputTokens ?? NaN,
    };
  };
}

function joined([first, ...others]: readonly AIMessageChunk[]): AIMessageChunk | undefined {
  return others.reduce<AIMessageChunk | undefined>((whole, chunk) => whole?.concat(chunk), first);
}

const langChain: StreamChat = async (call) => {
  const model = new ChatOpenAI({
    apiKey: call.apiKey,
    model: call.model,
    maxRetries: 0,
    configuration: { baseURL: call.baseUrl },
  });
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await model.stream([new HumanMessage('hi')], functionsOf(call)))
    chunks.push(chunk);
  const whole = joined(chunks);
  const usage = whole?.usage_metadata as UsageMetadata | undefined;
  return {
    text: whole?.text ?? '',
    finishReason: String(whole?.response_metadata['finish_reason']).replace('_', '-'),
    calls: (whole?.tool_call_chunks ?? []).map(({ id = '', name = '', args = '' }) => ({
      id,
      name,
      arguments: args,
    })),
    promptTokens: usage?.input_tokens ?? NaN,
    completionTokens: usage?.output_tokens ?? NaN,
  };
};

/** By package; `openai` 7 needs Node 22. */
export const CHAT_CLIENTS: Readonly<Record<string, StreamChat>> = {
  'openai 4': openAi(OpenAI4 as unknown as typeof OpenAI),
  'openai 5': openAi(OpenAI5 as unknown as typeof OpenAI),
  'openai 6': openAi(OpenAI),
  '@openrouter/sdk': openRouterSdk,
  '@openrouter/ai-sdk-provider': aiSdk(({ apiKey, baseUrl, model }) =>
    createOpenRouter({ apiKey, baseURL: baseUrl }).chat(model),
  ),
  'ai with openai-compatible': aiSdk(({ apiKey, baseUrl, model }) =>
    createOpenAICompatible({ name: 'signalbox', apiKey, baseURL: baseUrl, includeUsage: true }).chatModel(
      model,
    ),
  ),
  LangChain: langChain,
};
