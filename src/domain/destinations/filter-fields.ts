// The text of each filter field of a generation (docs/contract.md#filter-rules).
import type { FieldTexts } from './filter-match.js';
import type { FilterField } from './filter-rules.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { formatUsd } from '../spend/money.js';

/** Null when the field is missing, undefined when its value is unknown. */
const TEXTS: Readonly<Record<FilterField, (candidate: GenerationCandidate) => string | null | undefined>> = {
  model: ({ generation }) => generation.model,
  provider: ({ generation }) => generation.provider,
  session_id: ({ generation }) => generation.sessionId,
  user_id: ({ generation }) => generation.userId,
  api_key_name: ({ key }) => key.name,
  finish_reason: () => null,
  input: inputText,
  // Vectors have no text.
  output: () => null,
  total_cost: ({ generation: { cost } }) => (cost === null ? null : formatUsd(cost)),
  total_tokens: ({ generation }) => String(generation.totalTokens),
  prompt_tokens: ({ generation }) => String(generation.promptTokens),
  completion_tokens: () => '0',
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
  const texts = content.items.filter((item) => typeof item === 'string');
  return texts.length === 0 ? null : texts.join('\n');
}
