// Keeps the calls of one conversation at one endpoint, whose prompt cache they share (docs/contract.md#chat-routing). Every
// replica makes the same first choice by a rendezvous hash; the endpoint that has answered is remembered in memory.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { chatPricesOn, utcMinute } from '../../catalogue/chat-prices.js';
import { FairCache } from '../fair-cache/fair-cache.js';
import type { CacheOwner } from '../fair-cache/fair-cache.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { utcDay } from '../../domain/spend/spend.js';
import { preferredLike, priceWeights } from '../endpoints/endpoint-order.js';
import type { Candidate, OrderingContext } from '../endpoints/endpoint-order.js';
import { endpointName } from '../endpoint-target.js';
import type { ChatTarget } from '../endpoint-target.js';

const MAX_CONVERSATIONS = 20_000;
// Of a conversation: its key, and the name of its endpoint.
const BYTES = 512;
// Milliseconds since the last call: caches of providers live for five to ten minutes.
const LIFETIME = 600_000;
// Characters of each opening message.
const MAX_OPENING = 4_096;

interface Remembered {
  /** Its name. */
  readonly endpoint: string;
  /** performance.now() */
  readonly until: number;
}

interface StickyMoment extends Pick<OrderingContext, 'now' | 'isPreferred'> {
  readonly date: Date;
}

@Injectable()
export class StickyRoutes {
  /** By conversation and model. Accounts share it, so that none pushes the conversations of others out. */
  private readonly remembered = new FairCache<Remembered>({
    maxBytes: MAX_CONVERSATIONS * BYTES,
    timeToLive: LIFETIME,
    now: () => performance.now(),
    sizeOf: () => BYTES,
  });

  /**
   * Moves the conversation's endpoint to the front. Candidates are in order of preference. Own provider keys keep their
   * place, and so does an endpoint that is probed during its outage.
   */
  prefer(
    ordered: readonly Candidate<ChatTarget>[],
    conversation: string,
    { now, date, isPreferred }: StickyMoment,
  ): Candidate<ChatTarget>[] {
    const [first] = ordered;
    const isUsual = first && first.target.credential === null && !first.health.isOpen(now);
    const able = isUsual
      ? ordered.filter(
          ({ target, health }) =>
            target.credential === null && !health.isOpen(now) && savesByCache(target, date),
        )
      : [];
    if (able.length === 0) return [...ordered];
    const known = this.remembered.get(ownerOf(conversation), keyOf(conversation, first?.target));
    const name = known && now < known.until ? known.endpoint : null;
    const chosen =
      able.find(({ target }) => endpointName(target) === name) ??
      firstChoice(able, conversation, isPreferred);
    return [...able.filter((one) => one === chosen), ...ordered.filter((one) => one !== chosen)];
  }

  /** The endpoint has begun an answer of the conversation. `now`: performance.now() */
  remember(conversation: string, target: ChatTarget, now: number): void {
    this.remembered.set(ownerOf(conversation), keyOf(conversation, target), {
      endpoint: endpointName(target),
      until: now + LIFETIME,
    });
  }
}

export interface Conversation {
  readonly accountId: string;
  /** The session id of the body, else of a header. */
  readonly sessionId: string | null;
  readonly request: Pick<ChatRequest, 'messages' | 'promptCacheKey'>;
}

/** The account and a hash. Null: the caller chooses the endpoints by itself. */
export function conversationOf(
  { accountId, sessionId, request }: Conversation,
  { order, sort, preferredMaxLatency, preferredMinThroughput }: ProviderPreferences,
): string | null {
  if (order.length > 0 || sort || preferredMaxLatency || preferredMinThroughput) return null;
  const hash = createHash('sha256').update(accountId);
  const { promptCacheKey } = request;
  if (sessionId !== null) hash.update(`\0session\0${sessionId}`);
  else if (promptCacheKey !== null) hash.update(`\0key\0${promptCacheKey}`);
  else for (const text of openingOf(request)) hash.update(`\0${text}`);
  return `${accountId} ${hash.digest('base64url')}`;
}

function ownerOf(conversation: string): CacheOwner {
  const [accountId = ''] = conversation.split(' ', 1);
  return { accountId, workspaceId: '' };
}

/** Up to the first message of the user: later calls of a conversation begin with the same ones. */
function* openingOf({ messages }: Pick<ChatRequest, 'messages'>): Generator<string> {
  for (const { role, content } of messages) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : (content ?? []);
    let text = '';
    for (const part of parts) {
      if (text.length >= MAX_OPENING) break;
      text += part.type === 'text' ? part.text : part.type;
    }
    yield `${role}\0${text.slice(0, MAX_OPENING)}`;
    if (role === 'user') return;
  }
}

function keyOf(conversation: string, target: ChatTarget | undefined): string {
  return `${conversation} ${target?.model.id}`;
}

function savesByCache({ endpoint }: ChatTarget, date: Date): boolean {
  const moment = { promptTokens: 0, minuteOfDay: utcMinute(date), serviceTier: null };
  const prices = chatPricesOn(endpoint, utcDay(date), moment);
  return prices !== null && prices.cacheRead < prices.prompt;
}

/** Of several at one price one that speaks the caller's wire, as a call without a conversation has it. */
function firstChoice(
  able: readonly Candidate<ChatTarget>[],
  conversation: string,
  isPreferred: StickyMoment['isPreferred'],
): Candidate<ChatTarget> | undefined {
  const chosen = byRendezvous(able, conversation);
  return chosen && byRendezvous(preferredLike(chosen, able, isPreferred), conversation);
}

/** Weighted by price as the choice by chance is: the conversations spread over the endpoints in the same shares. */
function byRendezvous(
  candidates: readonly Candidate<ChatTarget>[],
  conversation: string,
): Candidate<ChatTarget> | undefined {
  const weights = priceWeights(candidates);
  let chosen: Candidate<ChatTarget> | undefined;
  let best = Infinity;
  for (const [index, candidate] of candidates.entries()) {
    const score = -Math.log(shareOf(conversation, endpointName(candidate.target))) / (weights[index] ?? 1);
    if (score >= best) continue;
    best = score;
    chosen = candidate;
  }
  return chosen;
}

/** Above 0, at most 1. */
function shareOf(conversation: string, endpoint: string): number {
  const digest = createHash('sha256').update(`${conversation}\0${endpoint}`).digest();
  return (digest.readUInt32BE(0) + 1) / 2 ** 32;
}
