// Chat Completions.
import { answerParts, openCalls } from './turns';
import type { AttachedImage, Turn, UserTurn } from './turns';
import { mapFunctions } from './tools';
import { NOTHING_READ } from './chat-answer';
import type { AnswerUsage, ReadAnswer, ToolCall } from './chat-answer';
import type { AnswerReader, ChatCall, ChatWire, WireBody } from './chat-wire';
import type { Schemas } from '../../../../api/client';

export const CHAT_COMPLETIONS: ChatWire = {
  name: 'chat',
  label: 'Chat Completions',
  path: 'chat/completions',
  limitMember: 'max_tokens',
  defaultLimit: null,
  bodyOf,
  newReader: () => new CompletionsReader(),
  clientPath: '/v1',
  typescript: {
    imports: ["import OpenAI from 'openai';"],
    construct: 'new OpenAI',
    create: 'client.chat.completions.create',
    loop: `for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}`,
  },
  python: {
    imports: ['from openai import OpenAI'],
    construct: 'OpenAI',
    create: 'client.chat.completions.create',
    loop: `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
  },
};

function bodyOf({ model, system, turns, temperature, maxTokens, effort, tools }: ChatCall): WireBody {
  const first = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...first, ...turns.flatMap(toMessages)],
    temperature,
    max_tokens: maxTokens,
    reasoning_effort: effort,
    tools: mapFunctions(tools, ({ described, parameters, beside }) => ({
      type: 'function',
      function: { ...described, parameters },
      ...beside,
    })),
    stream: true,
  };
}

function toMessages(turn: Turn): readonly object[] {
  if (turn.kind === 'user') return [{ role: 'user', content: contentOf(turn) }];
  if (turn.kind === 'tools')
    return turn.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  const { text } = turn.answer;
  const details = answerParts(turn, 'chat');
  const reasoning = details.length === 0 ? {} : { reasoning_details: details };
  const calls = openCalls(turn);
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text, ...reasoning }];
  const toolCalls = calls.map(({ id, name, arguments: values }) => ({
    id,
    type: 'function',
    function: { name, arguments: values },
  }));
  return [{ role: 'assistant', content: text || null, tool_calls: toolCalls, ...reasoning }];
}

function contentOf({ text, images }: UserTurn): unknown {
  if (images.length === 0) return text;
  const parts = images.map(({ url }: AttachedImage) => ({ type: 'image_url', image_url: { url } }));
  return text.trim() === '' ? parts : [{ type: 'text', text }, ...parts];
}

/** The members of a chunk that the console reads. */
interface Chunk {
  readonly model?: string;
  readonly provider?: string;
  readonly choices?: readonly {
    readonly index: number;
    readonly delta: {
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly reasoning_details?: readonly object[];
      readonly refusal?: string | null;
      readonly tool_calls?: readonly ToolCallPart[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Schemas['ChatUsageDto'];
  readonly error?: { readonly message?: string };
}

interface ToolCallPart {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

const DONE = '[DONE]';

class CompletionsReader implements AnswerReader {
  answer: ReadAnswer = NOTHING_READ;

  read(data: string): boolean {
    if (data === DONE) return true;
    const chunk = JSON.parse(data) as Chunk;
    const { answer } = this;
    const choice = chunk.choices?.find(({ index }) => index === 0);
    const {
      content,
      reasoning,
      refusal,
      tool_calls: calls = [],
      reasoning_details: details = [],
    } = choice?.delta ?? {};
    this.answer = {
      text: answer.text + (content ?? '') + (refusal ?? ''),
      reasoning: answer.reasoning + (reasoning ?? ''),
      toolCalls: calls.reduce(addToolCall, answer.toolCalls),
      finishReason: choice?.finish_reason ?? answer.finishReason,
      model: chunk.model ?? answer.model,
      provider: chunk.provider ?? answer.provider,
      usage: chunk.usage ? usageOf(chunk.usage) : answer.usage,
      failure: chunk.error === undefined ? answer.failure : (chunk.error.message ?? 'The provider failed.'),
      // The service joins those of one thought.
      parts: details.length === 0 ? answer.parts : [...answer.parts, ...details],
    };
    return false;
  }
}

function addToolCall(calls: readonly ToolCall[], part: ToolCallPart): readonly ToolCall[] {
  const known = calls[part.index] ?? { id: '', name: '', arguments: '' };
  const grown = {
    id: part.id ?? known.id,
    name: known.name + (part.function?.name ?? ''),
    arguments: known.arguments + (part.function?.arguments ?? ''),
  };
  return [...calls.slice(0, part.index), grown, ...calls.slice(part.index + 1)];
}

function usageOf(usage: Schemas['ChatUsageDto']): AnswerUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage;
  return {
    prompt: usage.prompt_tokens,
    cached: prompt.cached_tokens,
    written: prompt.cache_write_tokens,
    completion: usage.completion_tokens,
    reasoning: completion.reasoning_tokens,
    cost: usage.cost,
    isByok: usage.is_byok,
  };
}
