// The facts that a destination's three flags, and guardrails, add to a trace, as `openrouter_generation.<name>`. The names follow the
// generation record and observed traces of OpenRouter. Facts that embeddings do not have (caches, files, web searches)
// and unknown values are omitted (docs/contract.md#deliveries).
import { boundedLabel } from '../text/bounded-text.js';
import type { Destination } from './destination.js';
import type { ChatWords, FreeText, RecordedFacts } from '../generations/free-text.js';
import type { KeyFacts } from '../generations/generation-candidate.js';
import type { GenerationFacts } from '../generations/generation-trace.js';
import { apiTypeOf } from '../generations/generation.js';
import { usdOrNull } from '../spend/money.js';

export type BroadcastFlags = Pick<
  Destination,
  'broadcastCost' | 'broadcastIdentity' | 'broadcastRequestContext'
>;

type RecordedChat = NonNullable<RecordedFacts['chat']>;
type Fact = readonly [name: string, value: string | number | boolean | null];

export function generationFacts(
  flags: BroadcastFlags,
  generation: RecordedFacts,
  key: KeyFacts,
  words: FreeText,
): GenerationFacts {
  const facts: Fact[] = [];
  if (flags.broadcastCost) facts.push(...costFacts(generation));
  if (flags.broadcastIdentity) facts.push(...identityFacts(generation, key));
  if (flags.broadcastRequestContext) facts.push(...requestFacts(generation, words));
  facts.push(...guardrailFacts(generation));
  return Object.fromEntries(
    facts.filter((fact): fact is [string, string | number | boolean] => fact[1] !== null),
  );
}

/** Matches by filter and action: words of the operator and numbers, and no content. */
function guardrailFacts({ guardrails = [] }: RecordedFacts): Fact[] {
  const counts = new Map<string, number>();
  for (const { filter, action, count } of guardrails) {
    const name = `guardrail.${action}.${filter}`;
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts];
}

/** The cost of the call, its payer, and the token counts. */
function costFacts({ cost, upstreamCost, isByok, promptTokens, chat, rerank }: RecordedFacts): Fact[] {
  const upstreamUsd = usdOrNull(upstreamCost);
  return [
    ['usage', usdOrNull(cost)],
    ['usage_upstream', upstreamUsd],
    // The provider's charge to the owner of the own keys.
    ['byok_usage_inference', isByok ? upstreamUsd : 0],
    ['is_byok', isByok],
    ['tokens_prompt', promptTokens],
    ['tokens_completion', chat?.completionTokens ?? 0],
    ...(chat === null ? [] : chatCostFacts(chat)),
    ['search_units', rerank?.searchUnits ?? null],
    ...(rerank === null ? [] : [['usage_source', rerank.usageSource] as const]),
  ];
}

function chatCostFacts({ reportedTokens, cacheDiscount, usageSource, overrun }: RecordedChat): Fact[] {
  return [
    ['native_tokens_prompt', reportedTokens?.prompt ?? null],
    ['native_tokens_completion', reportedTokens?.completion ?? null],
    ['native_tokens_reasoning', reportedTokens?.reasoning ?? null],
    ['native_tokens_cached', reportedTokens?.cached ?? null],
    ['native_tokens_cache_write', reportedTokens?.cacheWrite ?? null],
    ['cache_discount', usdOrNull(cacheDiscount)],
    ['usage_source', usageSource],
    ['overrun', usdOrNull(overrun)],
  ];
}

/** The identity of the caller: the end user of the request, else of the key, and the key itself. */
function identityFacts({ userId, workspaceId }: RecordedFacts, key: KeyFacts): Fact[] {
  return [
    ['external_user', boundedLabel(userId) ?? boundedLabel(key.externalUser)],
    ['user_id', boundedLabel(userId)],
    ['creator_user_id', boundedLabel(key.creatorUserId)],
    ['api_key_name', boundedLabel(key.name)],
    ['api_key_hash', key.hash],
    ['workspace_id', workspaceId],
  ];
}

/** The request and the application that sent it. */
function requestFacts(generation: RecordedFacts, words: FreeText): Fact[] {
  const { requestId, region, chat, upstreamMs } = generation;
  return [
    ['request_id', requestId],
    ['data_region', region],
    ['api_type', apiTypeOf(generation)],
    ...(chat === null ? inputFacts(generation, words) : chatRequestFacts(chat, words.chat)),
    // Milliseconds spent waiting for providers.
    ['generation_time', upstreamMs],
    ['upstream_id', words.upstreamId],
    ['http_referer', words.referer],
    ['user_agent', words.userAgent],
    ['title', words.title],
  ];
}

function inputFacts(
  { encodingFormat, dimensions, inputCount, rerank }: RecordedFacts,
  words: FreeText,
): Fact[] {
  return [
    ['encoding_format', encodingFormat],
    ['dimensions', dimensions],
    ['input_count', inputCount],
    ['input_type', words.inputType],
    ['top_n', rerank?.topN ?? null],
  ];
}

function chatRequestFacts(
  { isStreamed, isCancelled, timeToFirstTokenMs }: RecordedChat,
  words: ChatWords | null,
): Fact[] {
  return [
    ['streamed', isStreamed],
    ['cancelled', isCancelled],
    ['finish_reason', words?.finishReason ?? null],
    ['native_finish_reason', words?.nativeFinishReason ?? null],
    // Milliseconds.
    ['time_to_first_token', timeToFirstTokenMs],
    ['service_tier', words?.serviceTier ?? null],
  ];
}
