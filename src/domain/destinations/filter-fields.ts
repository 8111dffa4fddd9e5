// The text of each filter field of a generation (docs/contract.md#filter-rules).
import type { FieldTexts } from './filter-match.js';
import type { FilterField } from './filter-rules.js';
import type { ContentMessage } from '../generations/chat-content.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { formatUsd } from '../spend/money.js';

/** Null when the field is missing, undefined when its value is unknown. */
const TEXTS: Readonly<Record<FilterField, (candidate: GenerationCandidate) => string | null | undefined>> = {
  model: ({ generation }) => generation.model,
  provider: ({ generation }) => generation.provider,
  session_id: ({ generation }) => generation.sessionId,
  user_id: ({ generation }) => generation.userId,
  api_key_name: ({ key }) => key.name,
  // A failure in the middle of an answer has one as well.
  finish_reason: ({ generation }) => generation.chat?.finishReason ?? null,
  input: inputText,
  output: outputText,
  total_cost: ({ generation: { cost } }) => (cost === null ? null : formatUsd(cost)),
  total_tokens: ({ generation }) => String(generation.totalTokens),
  prompt_tokens: ({ generation }) => String(generation.promptTokens),
  completion_tokens: ({ generation }) => String(generation.chat?.completionTokens ?? 0),
};

/** Builds each text at most once, and only when a rule reads it. */
export function fieldTextsOf(candidate: GenerationCandidate): FieldTexts {
  const made = new Map<FilterField, string | null | undefined>();
  return (field) => {
    if (!made.has(field)) made.set(field, TEXTS[field](candidate));
    return made.get(field);
  };
}

/** The stored texts, one per line; token ids have no text. */
function inputText({ content }: GenerationCandidate): string | null | undefined {
  if (content === null) return undefined;
  const { chat, items } = content;
  return lines(
    chat ? chat.messages.flatMap(textsOfMessage) : items.filter((item) => typeof item === 'string'),
  );
}

function textsOfMessage({ content, tool_calls: calls = [] }: ContentMessage): readonly string[] {
  const texts =
    typeof content === 'string'
      ? [content]
      : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return [...texts, ...calls.map((call) => call.function.arguments)];
}

/** The texts and refusals of all answers and the arguments of their tool calls, one per line; vectors have no text. */
function outputText({ generation, content }: GenerationCandidate): string | null | undefined {
  if (generation.chat === null) return null;
  if (content === null) return undefined;
  return lines(
    (content.chat?.choices ?? []).flatMap(({ content: text, refusal, toolCalls }) =>
      [text, refusal, toolCalls.map((call) => call.arguments)].flat().filter((line) => line !== null),
    ),
  );
}

function lines(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('\n');
}
