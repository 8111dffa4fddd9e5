// One generation: the record of one model call that reached routing, success or failure, written once
// (docs/contract.md#generations).
import type { GuardrailHit } from '../guardrails/guardrail-hit.js';
import type { ChatFacts } from '../chat/chat-outcome.js';
import type { RerankFacts } from '../rerank/rerank.js';
import type { EncodingFormat } from '../embeddings/embedding.js';
import type { CallerTrace } from '../caller-trace.js';
import type { PicoUsd } from '../spend/money.js';

export interface GenerationAttempt {
  readonly provider: string;
  readonly endpoint: string;
  /** The upstream's status; null without an answer. */
  readonly status: number | null;
  readonly errorType: string | null;
  readonly durationMs: number;
  /** Chat only; absent: that of the generation. */
  readonly model?: string;
  readonly upstreamId?: string | null;
  readonly isByok?: boolean;
  /** Chat only: from the start of the attempt to its first content; absent without content. */
  readonly firstContentMs?: number;
  /** Chat only: members of the request that the endpoint does not take, and that were dropped. */
  readonly droppedMembers?: readonly string[];
  /** Chat only: as charged; absent where the attempt is not charged. */
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  /** USD as a decimal: what the provider charges, by the catalogue; null where no price is known. */
  readonly cost?: string | null;
}

/** The application that sent the request, as its headers describe it. */
export interface RequestContext {
  readonly userAgent?: string;
  readonly referer?: string;
  readonly title?: string;
  /** The client's own count of its repetitions; absent for the first request. */
  readonly retryCount?: number;
}

export type Operation = 'embeddings' | 'chat' | 'rerank';

/** Operations as the contract's records name them. */
export const API_TYPES = ['embeddings', 'completions', 'messages', 'responses', 'rerank'] as const;
export type ApiType = (typeof API_TYPES)[number];

export function apiTypeOf({
  operation,
  chat,
}: Pick<Generation, 'operation'> & { readonly chat: Pick<ChatFacts, 'wire'> | null }): ApiType {
  if (operation !== 'chat') return operation;
  const wire = chat?.wire ?? 'chat';
  return wire === 'chat' ? 'completions' : wire;
}

/** Lists are filtered by operation: `completions` are chats of every wire. */
export const LISTED_API_TYPES = ['embeddings', 'completions', 'rerank'] as const;

export function operationOf(apiType: (typeof LISTED_API_TYPES)[number]): Operation {
  return apiType === 'completions' ? 'chat' : apiType;
}

/** The catalogue that the cost of a call comes from: the cost can be computed again. */
export interface PricedBy {
  /** The newest stored revision at the start of the call; 0: none. */
  readonly catalogueVersion: number;
  /** The first day of the price row of the endpoint that served; null: none served, or its price is not known. */
  readonly effectiveFrom: string | null;
  /** The prices are the ceiling of an unlisted model. */
  readonly isCeiling?: true;
}

export interface Generation {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly createdAt: Date;
  readonly operation: Operation;
  readonly model: string;
  /** `tag/upstream-model` of the endpoint that served or was tried last; null when none was reached. */
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly upstreamId: string | null;
  /** The HTTP status that the caller received. */
  readonly status: number;
  readonly errorType: string | null;
  /** Its explanation, at most 300 characters; null as well where the workspace does not let it be kept. */
  readonly errorMessage: string | null;
  /** Texts or documents to embed, or to rank; 0 for chat. */
  readonly inputCount: number;
  readonly promptTokens: number;
  readonly totalTokens: number;
  /**
   * The caller's charge, at most the reservation. For a failed call: the served parts, if the failure is the caller's
   * own. Null when no price is known.
   */
  readonly cost: PicoUsd | null;
  /**
   * The providers' charge, including broken answers and amounts beyond the bound; null when no price is known. With
   * `isByok` it is the charge to the owner of the own keys for served parts, and the increment of the byok counters:
   * parts that the operator's keys served are in `cost` only.
   */
  readonly upstreamCost: PicoUsd | null;
  readonly isByok: boolean;
  /** The width of the vectors in the answer; null for a failure. */
  readonly dimensions: number | null;
  /** Null but for embeddings. */
  readonly encodingFormat: EncodingFormat | null;
  readonly inputType: string | null;
  readonly durationMs: number;
  /** Time spent waiting for providers: attempts of embeddings can overlap, those of chat add up. */
  readonly upstreamMs: number | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly requestId: string;
  readonly region: string;
  readonly trace: CallerTrace | null;
  readonly requestContext: RequestContext | null;
  readonly attempts: readonly GenerationAttempt[];
  /** Null for other operations. */
  readonly chat: ChatFacts | null;
  /** Null for other operations. */
  readonly rerank: RerankFacts | null;
  /** Absent from records of earlier releases. */
  readonly pricing?: PricedBy | undefined;
  /** Matches of content filters in its texts. Absent: none. */
  readonly guardrails?: readonly GuardrailHit[] | undefined;
}
