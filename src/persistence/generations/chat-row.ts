// The chat part of a generation as a row of its table: the columns that reports sum, and one object for the rest.
import type { Generation, PricedBy } from '../../domain/generations/generation.js';
import type { ChatFacts } from '../../domain/chat/chat-outcome.js';
import type { GuardrailHit } from '../../domain/guardrails/guardrail-hit.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { Generation as TableRow } from '../generated/client.js';

type Summed = 'completionTokens' | 'reasoningTokens' | 'cachedTokens';

const AMOUNTS = [
  'overrun',
  'promptCost',
  'completionCost',
  'cachedCost',
  'cacheWriteCost',
  'cacheWrite1hCost',
  'reasoningCost',
  'cacheDiscount',
] as const;
type Amount = (typeof AMOUNTS)[number];

/** Amounts are decimal texts. Members with the common value are absent: null, false and counts of 0. */
type StoredChat = Omit<ChatFacts, Summed | Amount> & Readonly<Record<Amount, string>>;

const SUMMED: readonly string[] = ['completionTokens', 'reasoningTokens', 'cachedTokens'] satisfies Summed[];

/** As stored: every call has it. */
export type StoredPricing = readonly [
  catalogueVersion: number,
  effectiveFrom: string | null,
  source?: 'ceiling',
];

/** Members of the column that every operation may have. */
export interface CommonFacts {
  readonly pricing?: StoredPricing;
  readonly guardrails?: readonly GuardrailHit[];
}

/** The column of the facts that only one operation has, of the catalogue that priced the call, and of what guardrails found. */
export function storedFacts({ chat, rerank, pricing, guardrails }: Generation): object | null {
  const facts = chat ? storedChat(chat) : rerank;
  if (!pricing && !guardrails) return facts;
  const stored = pricing && storedPricing(pricing);
  // As of nearly every call of embeddings: a literal of spread objects takes several times as long.
  if (facts === null && !guardrails) return { pricing: stored };
  return { ...facts, ...(stored && { pricing: stored }), ...(guardrails && { guardrails }) };
}

function storedPricing({ catalogueVersion, effectiveFrom, isCeiling }: PricedBy): StoredPricing {
  return isCeiling ? [catalogueVersion, effectiveFrom, 'ceiling'] : [catalogueVersion, effectiveFrom];
}

function storedChat(facts: ChatFacts): Partial<StoredChat> {
  const amounts = AMOUNTS.map(
    (name) => [name, facts[name] === null ? null : formatUsd(facts[name])] as const,
  );
  const members = Object.entries({ ...facts, ...Object.fromEntries(amounts) });
  return Object.fromEntries(
    members.filter(([name, value]) => !SUMMED.includes(name) && !isDefault(name, value)),
  );
}

/** A time of 0 is a value, unlike a count of 0. */
function isDefault(name: string, value: unknown): boolean {
  if (name === 'wire') return value === 'chat';
  return value === null || value === false || (value === 0 && name !== 'timeToFirstTokenMs');
}

export function readChat(row: Pick<TableRow, Summed | 'chat' | 'operation'>): ChatFacts | null {
  if (row.operation !== 'chat') return null;
  const stored = (row.chat ?? {}) as Partial<StoredChat>;
  return {
    wire: stored.wire ?? 'chat',
    providerWire: stored.providerWire ?? null,
    completionTokens: row.completionTokens ?? 0,
    reasoningTokens: row.reasoningTokens ?? 0,
    cachedTokens: row.cachedTokens ?? 0,
    cacheWriteTokens: stored.cacheWriteTokens ?? 0,
    cacheWrite1hTokens: stored.cacheWrite1hTokens ?? 0,
    audioInputTokens: stored.audioInputTokens ?? 0,
    audioOutputTokens: stored.audioOutputTokens ?? 0,
    usageSource: stored.usageSource ?? 'none',
    reportedTokens: stored.reportedTokens ?? null,
    finishReason: stored.finishReason ?? null,
    nativeFinishReason: stored.nativeFinishReason ?? null,
    isStreamed: stored.isStreamed ?? false,
    isCancelled: stored.isCancelled ?? false,
    timeToFirstTokenMs: stored.timeToFirstTokenMs ?? null,
    serviceTier: stored.serviceTier ?? null,
    overrun: readAmount(stored.overrun),
    promptCost: readAmount(stored.promptCost),
    completionCost: readAmount(stored.completionCost),
    cachedCost: readAmount(stored.cachedCost),
    cacheWriteCost: readAmount(stored.cacheWriteCost),
    cacheWrite1hCost: readAmount(stored.cacheWrite1hCost),
    reasoningCost: readAmount(stored.reasoningCost),
    cacheDiscount: readAmount(stored.cacheDiscount),
    parameters: stored.parameters ?? null,
    ...(stored.requestedModel !== undefined && { requestedModel: stored.requestedModel }),
    ...(stored.preset && { preset: stored.preset }),
    mediaCount: stored.mediaCount ?? 0,
    audioCount: stored.audioCount ?? 0,
  };
}

function readAmount(amount: string | undefined): bigint | null {
  return amount === undefined ? null : parseUsd(amount);
}
