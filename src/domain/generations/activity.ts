// The activity of an account per day and endpoint (docs/contract.md#activity-and-analytics).
import type { KeyScope } from './call-reach.js';
import type { PicoUsd } from '../spend/money.js';

export interface ActivityRow {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly model: string;
  /** Null: no endpoint was reached. */
  readonly endpoint: string | null;
  readonly provider: string | null;
  /** Null unless the report is grouped by workspace. */
  readonly workspaceId: string | null;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Parts of the completion tokens. */
  readonly reasoningTokens: number;
  readonly usage: PicoUsd;
  /** Through own provider keys. */
  readonly byokUsage: PicoUsd;
}

export interface ActivityScope {
  readonly accountId: string;
  readonly workspaceIds: readonly string[];
  /** Null: every key. */
  readonly apiKeyIds: readonly string[] | null;
  /** Beside those the calls of these keys, in other workspaces. */
  readonly ownKeys?: KeyScope | undefined;
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}
