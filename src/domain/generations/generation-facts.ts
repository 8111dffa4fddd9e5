// What each of a destination's three flags adds to a trace, as `openrouter_generation.<name>`. The names are those of
// the generation record and of what the reference service is seen to send. Left out is what embeddings do not have
// (caches, files, web searches), and what is not known. Source: contract 6, delivery.md 2.
import { boundedLabel } from '../text/bounded-text.js';
import type { Destination } from '../destinations/destination.js';
import type { FreeText, RecordedFacts } from './free-text.js';
import type { KeyFacts } from './generation-candidate.js';
import type { GenerationFacts } from './generation-trace.js';
import { usdToNumber } from '../spend/money.js';

export type BroadcastFlags = Pick<
  Destination,
  'broadcastCost' | 'broadcastIdentity' | 'broadcastRequestContext'
>;

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
  return Object.fromEntries(
    facts.filter((fact): fact is [string, string | number | boolean] => fact[1] !== null),
  );
}

/** What the call cost, to whom, and what that was counted from. */
function costFacts({ cost, upstreamCost, isByok, promptTokens }: RecordedFacts): Fact[] {
  const upstreamUsd = upstreamCost === null ? null : usdToNumber(upstreamCost);
  return [
    ['usage', cost === null ? null : usdToNumber(cost)],
    ['usage_upstream', upstreamUsd],
    // What the provider charges the owner of the own keys.
    ['byok_usage_inference', isByok ? upstreamUsd : 0],
    ['is_byok', isByok],
    ['tokens_prompt', promptTokens],
    ['tokens_completion', 0],
  ];
}

/** Who called: the end user that the request named, else the one that the key was made for, and the key. */
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

/** How the call was made, and by what. */
function requestFacts(
  { requestId, region, operation, encodingFormat, dimensions, inputCount, upstreamMs }: RecordedFacts,
  words: FreeText,
): Fact[] {
  return [
    ['request_id', requestId],
    ['data_region', region],
    ['api_type', operation],
    ['encoding_format', encodingFormat],
    ['dimensions', dimensions],
    ['input_count', inputCount],
    ['input_type', words.inputType],
    // Milliseconds spent waiting for providers.
    ['generation_time', upstreamMs],
    ['upstream_id', words.upstreamId],
    ['http_referer', words.referer],
    ['user_agent', words.userAgent],
    ['title', words.title],
  ];
}
