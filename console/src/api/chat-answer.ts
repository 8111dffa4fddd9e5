// The answer of a chat call, assembled from the chunks of its stream.
import type { Schemas } from './client';

export type ChatUsage = Schemas['ChatUsageDto'];

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: JSON, unless it was cut. */
  readonly arguments: string;
}

export interface ChatAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly usage: ChatUsage | null;
  readonly generationId: string | null;
  /** Milliseconds from the request to the first content, as the browser sees it. */
  readonly firstContent: number | null;
  /** Milliseconds from the request to the end of the answer; null before it. */
  readonly latency: number | null;
  /** The failure that ended the answer in its middle. */
  readonly failure: string | null;
}

export const EMPTY_ANSWER: ChatAnswer = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finishReason: null,
  model: null,
  provider: null,
  usage: null,
  generationId: null,
  firstContent: null,
  latency: null,
  failure: null,
};

/** The members of a chunk that the console reads. */
export interface ChatChunk {
  readonly model?: string;
  readonly provider?: string;
  readonly choices?: readonly {
    readonly index: number;
    readonly delta: {
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly refusal?: string | null;
      readonly tool_calls?: readonly ToolCallPart[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatUsage;
  readonly error?: { readonly message?: string };
}

interface ToolCallPart {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** `elapsed`: milliseconds since the request. */
export function addChunk(answer: ChatAnswer, chunk: ChatChunk, elapsed: number): ChatAnswer {
  const choice = chunk.choices?.find(({ index }) => index === 0);
  const { content, reasoning, refusal, tool_calls: calls = [] } = choice?.delta ?? {};
  const added = (content ?? '') + (refusal ?? '');
  const hasContent = added !== '' || Boolean(reasoning) || calls.length > 0;
  return {
    ...answer,
    text: answer.text + added,
    reasoning: answer.reasoning + (reasoning ?? ''),
    toolCalls: calls.reduce(addToolCall, answer.toolCalls),
    finishReason: choice?.finish_reason ?? answer.finishReason,
    model: chunk.model ?? answer.model,
    provider: chunk.provider ?? answer.provider,
    usage: chunk.usage ?? answer.usage,
    firstContent: answer.firstContent ?? (hasContent ? elapsed : null),
    failure: chunk.error === undefined ? answer.failure : (chunk.error.message ?? 'The provider failed.'),
  };
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
