// The limits of a process, a caller, an account and a workspace (docs/contract.md#limits).
import { getHeapStatistics } from 'node:v8';
import type { PicoUsd } from '../domain/spend/money.js';
import type { EnvironmentReader } from './environment-reader.js';

const GIBIBYTE = 2 ** 30;

/** Limits of this process; requests beyond them are rejected with 503. */
export interface LoadSheddingConfig {
  readonly callsInFlight: number;
  /** Chat calls and the drains of those whose client has left. */
  readonly chatsInFlight: number;
  readonly bytesInFlight: number;
  /** Milliseconds of lasting event-loop delay beyond which fewer calls are admitted; 0: no limit. */
  readonly eventLoopDelay: number;
  readonly connections: number;
}

/** Requests a minute; 0 switches the limit off (docs/contract.md#rate-limits). */
export interface RateLimitsConfig {
  readonly management: number;
  readonly inference: number;
  readonly failedAuthentication: number;
  /** For each account: requests of management keys that may change something. */
  readonly changes: number;
  /** For each address: requests of routes that need no credential. */
  readonly public: number;
}

/** Objects of one workspace or account. */
export interface QuotasConfig {
  readonly keysPerWorkspace: number;
  readonly keysPerAccount: number;
  readonly workspacesPerAccount: number;
  readonly membersPerWorkspace: number;
}

/** Bytes that the calls of one workspace may store. */
export interface StorageQuotasConfig {
  /** Contents that wait for deliveries; beyond it contents are not stored. */
  readonly contentBytes: number;
  /** Records of one UTC day; beyond it calls are rejected with 429. */
  readonly dailyLogBytes: number;
}

export function readLoadShedding(read: EnvironmentReader): LoadSheddingConfig {
  return {
    callsInFlight: read.integer('MAX_CALLS_IN_FLIGHT', 1_024, 1, 1_000_000),
    chatsInFlight: read.integer('MAX_CHATS_IN_FLIGHT', 1_024, 1, 1_000_000),
    bytesInFlight: read.integer('MAX_BYTES_IN_FLIGHT', defaultBytesInFlight(), 1024, 2 ** 40),
    eventLoopDelay: read.integer('MAX_EVENT_LOOP_DELAY_MS', 1_000, 0, 60_000),
    connections: read.integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
  };
}

/** Bytes. `MAX_BODY_BYTES` sets both. */
export function readBodyLimits(read: EnvironmentReader): {
  readonly maxBodyBytes: number;
  readonly maxEmbeddingsBodyBytes: number;
} {
  const maxBodyBytes = read.optionalInteger('MAX_BODY_BYTES', 1024, 2 ** 30);
  return {
    maxBodyBytes: maxBodyBytes ?? 1024 * 1024,
    maxEmbeddingsBodyBytes: maxBodyBytes ?? 20 * 1024 * 1024,
  };
}

export function readRateLimits(read: EnvironmentReader): RateLimitsConfig {
  const management = read.integer('RATE_LIMIT_MANAGEMENT_PER_MINUTE', 600, 0, 1e9);
  return {
    management,
    inference: read.integer('RATE_LIMIT_INFERENCE_PER_MINUTE', 6000, 0, 1e9),
    failedAuthentication: read.integer('RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE', 300, 0, 1e9),
    changes: read.integer('RATE_LIMIT_CHANGES_PER_MINUTE', management, 0, 1e9),
    public: read.integer('RATE_LIMIT_PUBLIC_PER_MINUTE', 6000, 0, 1e9),
  };
}

export function readQuotas(read: EnvironmentReader): QuotasConfig {
  return {
    keysPerWorkspace: read.integer('MAX_KEYS_PER_WORKSPACE', 100_000, 1, 1e9),
    keysPerAccount: read.integer('MAX_KEYS_PER_ACCOUNT', 250_000, 1, 1e9),
    workspacesPerAccount: read.integer('MAX_WORKSPACES_PER_ACCOUNT', 1_000, 1, 1e9),
    membersPerWorkspace: read.integer('MAX_MEMBERS_PER_WORKSPACE', 10_000, 1, 1e9),
  };
}

/** The unpaid amounts of a key and UTC day beyond which its calls are rejected with 402; null: no limit. */
export function readMaxUnpaid(read: EnvironmentReader): PicoUsd | null {
  const amount = read.usd('MAX_UNPAID_USD_PER_KEY_AND_DAY', '5');
  return amount === 0n ? null : amount;
}

export function readStorageQuotas(read: EnvironmentReader): StorageQuotasConfig {
  return {
    contentBytes: read.integer('WORKSPACE_CONTENT_QUOTA_BYTES', 10 * GIBIBYTE, 0, 2 ** 50),
    dailyLogBytes: read.integer('WORKSPACE_DAILY_LOG_QUOTA_BYTES', 50 * GIBIBYTE, 0, 2 ** 50),
  };
}

/** A request holds its body several times at once: as bytes, as text and as values. */
function defaultBytesInFlight(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 16);
}
