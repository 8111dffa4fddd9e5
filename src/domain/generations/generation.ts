// One generation: what is known of one embeddings call that reached routing, success or failure, recorded once.
// Source: decisions "What one generation is".
import type { EncodingFormat } from '../embeddings/embedding.js';
import type { PicoUsd } from '../spend/money.js';

/** The most tokens that a record can hold; more is no count but a defect of an upstream. */
export const MAX_TOKENS = 2 ** 31 - 1;

export interface GenerationAttempt {
  readonly provider: string;
  readonly endpoint: string;
  /** The upstream's status; null when it did not answer. */
  readonly status: number | null;
  readonly errorType: string | null;
  readonly durationMs: number;
}

/** What the request said about the application that sent it. */
export interface RequestContext {
  readonly userAgent?: string;
  readonly referer?: string;
  readonly title?: string;
}

/** The caller's `trace` object: five known keys, any other is metadata (contract 4.1). */
export type CallerTrace = Readonly<Record<string, unknown>>;

export interface Generation {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly createdAt: Date;
  readonly operation: 'embeddings';
  readonly model: string;
  /** `tag/upstream-model` of the endpoint that served, or was tried last; null when none was reached. */
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly upstreamId: string | null;
  /** The HTTP status that the caller got. */
  readonly status: number;
  readonly errorType: string | null;
  readonly inputCount: number;
  readonly promptTokens: number;
  readonly totalTokens: number;
  /**
   * What the caller pays, at most what was reserved; of a failed call the parts that were served, where the failure is the
   * caller's own. Null where no price is known.
   */
  readonly cost: PicoUsd | null;
  /**
   * What providers charge, for broken answers and beyond the bound as well; null where no price is known. With `isByok` it is what they charge the
   * owner of the own keys for what was served, and so what the byok counters grow by: slices that the operator's keys
   * served are in `cost` alone.
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
