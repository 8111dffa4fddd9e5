// Usage in Gemini's wire. The prompt includes its cached part and, beside it, the results of tools that ran there; thoughts are billed
// as output, beside the candidates (docs/contract.md#gemini-providers).
import type { ReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import { isArray, isObject } from '../../../domain/members.js';
import { asObject } from '../wire.js';

/** Null: it is no object. Numbers of any kind stay: the normalisation rejects those that are no counts. */
export function readGeminiUsage(usage: unknown): ReportedChatUsage | null {
  if (!isObject(usage)) return null;
  const { promptTokensDetails: prompt, candidatesTokensDetails: candidates } = usage;
  const thoughts = numberOf(usage['thoughtsTokenCount']);
  return {
    promptTokens: sumOf(numberOf(usage['promptTokenCount']), numberOf(usage['toolUsePromptTokenCount'])),
    completionTokens: sumOf(numberOf(usage['candidatesTokenCount']), thoughts),
    totalTokens: numberOf(usage['totalTokenCount']),
    cachedTokens: numberOf(usage['cachedContentTokenCount']),
    cacheWriteTokens: null,
    cacheWrite1hTokens: null,
    audioInputTokens: tokensOf('AUDIO', prompt),
    videoInputTokens: tokensOf('VIDEO', prompt),
    reasoningTokens: thoughts,
    audioOutputTokens: tokensOf('AUDIO', candidates),
    imageOutputTokens: tokensOf('IMAGE', candidates),
    acceptedPredictionTokens: null,
    rejectedPredictionTokens: null,
    providerToolUses: null,
    webSearches: null,
  };
}

/** Null: neither is known. */
function sumOf(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

function tokensOf(modality: string, details: unknown): number | null {
  const counts = (isArray(details) ? details : [])
    .map(asObject)
    .filter((detail) => detail['modality'] === modality)
    .map((detail) => numberOf(detail['tokenCount']));
  return counts.reduce(sumOf, null);
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
