// Observability destinations: where generations of a workspace are forwarded to, and under which rules.
import type { FilterRules } from './filter-rules.js';

/** contract: Limits. Per workspace and kind, deleted ones not counted (decisions 2). */
export const MAX_DESTINATIONS_PER_KIND = 5;

export const REGIONS = ['global', 'europe', 'us'] as const;
export type Region = (typeof REGIONS)[number];

/** The kind-specific configuration in clear, validated by its kind. Leaves the process masked or encrypted only. */
export type DestinationConfig = Readonly<Record<string, unknown>>;

export interface NewDestination {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The kind's own token, whichever spelling the caller used. */
  readonly kind: string;
  /** The spelling that the caller used, which its records show (decisions 1). */
  readonly type: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly privacyMode: boolean;
  readonly broadcastCost: boolean;
  readonly broadcastIdentity: boolean;
  readonly broadcastRequestContext: boolean;
  /** 0.0001 to 1. */
  readonly samplingRate: number;
  /** Null: the traffic of every key. */
  readonly apiKeyHashes: readonly string[] | null;
  readonly filterRules: FilterRules | null;
  readonly regions: readonly Region[];
  readonly config: DestinationConfig;
}

export interface Destination extends NewDestination {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What can be changed of a destination; what is absent stays. */
export type DestinationChange = Partial<Omit<NewDestination, 'accountId' | 'workspaceId' | 'kind' | 'type'>>;
