// The usage of a chat call in tokens. Details are parts of their totals, never additions to them.
import { MAX_TOKENS } from '../token-count.js';
import { isObject } from '../members.js';

export interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Parts of the prompt. */
  readonly cachedTokens: number;
  /** The part of the cached tokens that is certainly audio: no report states it. */
  readonly cachedAudioTokens: number;
  readonly cacheWriteTokens: number;
  /** The written tokens that live for an hour, whose price differs; null: no report states it, the request's longest life counts. */
  readonly cacheWrite1hTokens: number | null;
  readonly audioInputTokens: number;
  readonly videoInputTokens: number;
  /** Parts of the completion. */
  readonly reasoningTokens: number;
  readonly audioOutputTokens: number;
  readonly imageOutputTokens: number;
  readonly acceptedPredictionTokens: number;
  readonly rejectedPredictionTokens: number;
  /** Searches and the like that the provider has run itself, and bills beside the tokens. */
  readonly providerToolUses: number;
  /** A part of them, which some endpoints have a price for. */
  readonly webSearches: number;
}

/** A provider's usage as it came: absent members are null, and numbers are unchecked. */
export type ReportedChatUsage = {
  readonly [Member in Exclude<keyof ChatUsage, 'cachedAudioTokens'>]: number | null;
} & {
  readonly totalTokens: number | null;
};

export const USAGE_SOURCES = ['reported', 'counted', 'estimated', 'none'] as const;
/** The origin of the charged tokens: the provider, this service's count, an estimate, or nothing is charged. */
export type UsageSource = (typeof USAGE_SOURCES)[number];

type Members = Readonly<Record<string, unknown>>;

/** Reads usage in OpenAI's names, and those that compatible servers use for the same numbers. Null: it is no object. */
export function readReportedChatUsage(usage: unknown): ReportedChatUsage | null {
  if (!isObject(usage)) return null;
  const prompt = membersOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const completion = membersOf(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  return {
    promptTokens: firstNumber(usage['prompt_tokens'], usage['input_tokens']),
    completionTokens: firstNumber(usage['completion_tokens'], usage['output_tokens']),
    totalTokens: numberOf(usage['total_tokens']),
    cachedTokens: firstNumber(
      prompt['cached_tokens'],
      usage['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['cache_read_input_tokens'],
    ),
    cacheWriteTokens: firstNumber(
      prompt['cache_write_tokens'],
      prompt['cache_creation_tokens'],
      usage['cache_creation_input_tokens'],
    ),
    cacheWrite1hTokens: null,
    audioInputTokens: numberOf(prompt['audio_tokens']),
    videoInputTokens: numberOf(prompt['video_tokens']),
    reasoningTokens: firstNumber(completion['reasoning_tokens'], usage['reasoning_tokens']),
    audioOutputTokens: numberOf(completion['audio_tokens']),
    imageOutputTokens: numberOf(completion['image_tokens']),
    acceptedPredictionTokens: numberOf(completion['accepted_prediction_tokens']),
    rejectedPredictionTokens: numberOf(completion['rejected_prediction_tokens']),
    providerToolUses: readProviderToolUses(usage),
    webSearches: readWebSearches(usage),
  };
}

/** In the names of Anthropic, Perplexity and xAI. Null: none is reported. */
export function readProviderToolUses(usage: Members): number | null {
  const counts = [
    ...Object.values(membersOf(usage['server_tool_use'])),
    usage['num_search_queries'],
    usage['num_sources_used'],
  ];
  const uses = counts.reduce<number>((sum, count) => sum + (isTokenCount(count) ? count : 0), 0);
  return uses === 0 ? null : Math.min(uses, MAX_TOKENS);
}

/** In the names of Anthropic. Null: none is reported. */
export function readWebSearches(usage: Members): number | null {
  const { web_search_requests: searches } = membersOf(usage['server_tool_use']);
  return isTokenCount(searches) ? searches : null;
}

/** Charged usage: `isConsistent` is false where parts exceeded their total and were cut. */
export interface NormalisedChatUsage {
  readonly usage: ChatUsage;
  readonly isConsistent: boolean;
}

/**
 * The numbers of a report as parts and totals that fit together. Null where the report cannot be used: a total is missing,
 * or a number or the sum of both totals is negative, fractional or absurd. The service counts the tokens itself then.
 */
export function normaliseChatUsage(reported: ReportedChatUsage): NormalisedChatUsage | null {
  if (Object.values(reported).some((tokens) => tokens !== null && !isTokenCount(tokens))) return null;
  const totals = wholeTotals(reported);
  if (totals === null || !isTokenCount(totals.promptTokens + totals.completionTokens)) return null;
  const { promptTokens, completionTokens } = totals;
  const cut = partsWithin(promptTokens, [
    reported.cachedTokens,
    reported.cacheWriteTokens,
    reported.audioInputTokens,
    reported.videoInputTokens,
  ]);
  const made = partsWithin(completionTokens, [
    reported.reasoningTokens,
    reported.audioOutputTokens,
    reported.imageOutputTokens,
  ]);
  const [cachedTokens = 0, cacheWriteTokens = 0, audioInputTokens = 0, videoInputTokens = 0] = cut.parts;
  // Audio beyond the rest of the prompt is among the cached tokens.
  const overlap = Math.min(reported.audioInputTokens ?? 0, promptTokens) - audioInputTokens;
  const [reasoningTokens = 0, audioOutputTokens = 0, imageOutputTokens = 0] = made.parts;
  return {
    usage: {
      promptTokens,
      completionTokens,
      cachedTokens,
      cachedAudioTokens: Math.min(cachedTokens, overlap),
      cacheWriteTokens,
      cacheWrite1hTokens:
        reported.cacheWrite1hTokens === null ? null : Math.min(reported.cacheWrite1hTokens, cacheWriteTokens),
      audioInputTokens,
      videoInputTokens,
      reasoningTokens,
      audioOutputTokens,
      imageOutputTokens,
      // No part of the price: predicted tokens are completion tokens already.
      acceptedPredictionTokens: Math.min(reported.acceptedPredictionTokens ?? 0, completionTokens),
      rejectedPredictionTokens: Math.min(reported.rejectedPredictionTokens ?? 0, completionTokens),
      providerToolUses: reported.providerToolUses ?? 0,
      webSearches: reported.webSearches ?? 0,
    },
    isConsistent: cut.fits && made.fits,
  };
}

/**
 * Some servers report cached, written or reasoning tokens beside the totals that they are parts of. Only a reported total that is
 * exactly the sum proves it: without that proof the parts are inside, and cut.
 */
function wholeTotals(
  reported: ReportedChatUsage,
): Pick<ChatUsage, 'promptTokens' | 'completionTokens'> | null {
  const { promptTokens, completionTokens, totalTokens } = reported;
  if (promptTokens === null || (completionTokens === null && totalTokens === null)) return null;
  if (completionTokens === null || totalTokens === null)
    return {
      promptTokens,
      completionTokens: completionTokens ?? Math.max(0, (totalTokens ?? 0) - promptTokens),
    };
  const cached = reported.cachedTokens ?? 0;
  const written = reported.cacheWriteTokens ?? 0;
  const beside = totalTokens - promptTokens - completionTokens;
  for (const reasoning of [0, reported.reasoningTokens ?? 0])
    for (const prompt of [0, cached + written, cached, written])
      if (beside > 0 && reasoning + prompt === beside)
        return { promptTokens: promptTokens + prompt, completionTokens: completionTokens + reasoning };
  return { promptTokens, completionTokens };
}

/** Usage that this service counted itself: it knows nothing of the parts. */
export function countedChatUsage(promptTokens: number, completionTokens: number): ChatUsage {
  return {
    promptTokens,
    completionTokens,
    cachedTokens: 0,
    cachedAudioTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: null,
    audioInputTokens: 0,
    videoInputTokens: 0,
    reasoningTokens: 0,
    audioOutputTokens: 0,
    imageOutputTokens: 0,
    acceptedPredictionTokens: 0,
    rejectedPredictionTokens: 0,
    providerToolUses: 0,
    webSearches: 0,
  };
}

/** Earlier parts take precedence over later ones. */
function partsWithin(
  total: number,
  parts: readonly (number | null)[],
): { readonly parts: readonly number[]; readonly fits: boolean } {
  let rest = total;
  let fits = true;
  const within = parts.map((part) => {
    const kept = Math.min(part ?? 0, rest);
    if (kept < (part ?? 0)) fits = false;
    rest -= kept;
    return kept;
  });
  return { parts: within, fits };
}

function isTokenCount(tokens: unknown): tokens is number {
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0 && tokens <= MAX_TOKENS;
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

/** Under several names: the first that is given. */
function firstNumber(...values: readonly unknown[]): number | null {
  return values.map(numberOf).find((value) => value !== null) ?? null;
}

/** Numbers of any kind: the normalisation rejects those that are no counts. */
function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
