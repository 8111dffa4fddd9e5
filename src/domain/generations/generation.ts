// One generation: the record of one embeddings call that reached routing, success or failure, written once
// (docs/contract.md#generations).
import type { EncodingFormat } from '../embeddings/embedding.js';
import type { PicoUsd } from '../spend/money.js';

/** The most tokens that a record can hold. A higher count is a defect of an upstream and is rejected. */
export const MAX_TOKENS = 2 ** 31 - 1;

export interface GenerationAttempt {
  readonly provider: string;
  readonly endpoint: string;
  /** The upstream's status; null without an answer. */
  readonly status: number | null;
  readonly errorType: string | null;
  readonly durationMs: number;
}

/** The application that sent the request, as its headers describe it. */
export interface RequestContext {
  readonly userAgent?: string;
  readonly referer?: string;
  readonly title?: string;
}

/** The caller's `trace` object: five known keys, all others are metadata (docs/contract.md#embeddings-request). */
export type CallerTrace = Readonly<Record<string, unknown>>;

export interface Generation {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly createdAt: Date;
  readonly operation: 'embeddings';
  readonly model: string;
  /** `tag/upstream-model` of the endpoint that served or was tried last; null when none was reached. */
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly upstreamId: string | null;
  /** The HTTP status that the caller received. */
  readonly status: number;
  readonly errorType: string | null;
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
  readonly encodingFormat: EncodingFormat;
  readonly inputType: string | null;
  readonly durationMs: number;
  /** The part of durationMs that was spent waiting for providers. */
  readonly upstreamMs: number | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly requestId: string;
  readonly region: string;
  readonly trace: CallerTrace | null;
  readonly requestContext: RequestContext | null;
  readonly attempts: readonly GenerationAttempt[];
}
