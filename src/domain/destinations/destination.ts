// Observability destinations: where generations of a workspace are delivered, and under which rules.
import type { FilterRules } from './filter-rules.js';

/** Per workspace and kind, without deleted ones (docs/contract.md#limits). */
export const MAX_DESTINATIONS_PER_KIND = 5;

export const REGIONS = ['global', 'europe', 'us'] as const;
export type Region = (typeof REGIONS)[number];

/** The kind-specific configuration in clear, validated by its kind. It leaves the process masked or encrypted only. */
export type DestinationConfig = Readonly<Record<string, unknown>>;

export interface NewDestination {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The kind's own token, for both spellings. */
  readonly kind: string;
  /** The caller's spelling, which records show (docs/contract.md#destination-kinds). */
  readonly type: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly privacyMode: boolean;
  readonly broadcastCost: boolean;
  readonly broadcastIdentity: boolean;
  readonly broadcastRequestContext: boolean;
  /** 0.0001 to 1. */
  readonly samplingRate: number;
  /** Null: all keys. */
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

/** Changeable members of a destination; omitted members keep their value. */
export type DestinationChange = Partial<Omit<NewDestination, 'accountId' | 'workspaceId' | 'kind' | 'type'>>;
