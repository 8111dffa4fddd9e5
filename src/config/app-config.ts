// Reads and validates the environment once at the start, into one frozen, typed object. No other file reads
// process.env.
import { randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { ConfigError, EnvironmentReader } from './environment-reader.js';
import type { EncryptionKey, OutboundProxies, ProviderSettings } from './environment-reader.js';
import { readChatConfig } from './chat-config.js';
import type { ChatConfig } from './chat-config.js';
import { readHistoryConfig } from './history-config.js';
import type { HistoryConfig } from './history-config.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const PROCESS_ROLES = ['all', 'calls', 'deliveries'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
// Variables that a process sets for the processes that it starts.
const ROLE_VARIABLE = 'SIGNALBOX_ROLE';
const REPLICA_VARIABLE = 'SIGNALBOX_REPLICA';
// Node's own variable: the number of threads that resolve names and read files. Each name whose server does not
// answer blocks one thread for ten seconds or more; idle threads cost nothing. Started processes therefore get at
// least 32.
const THREADS_VARIABLE = 'UV_THREADPOOL_SIZE';
const USUAL_THREADS = 4;
const THREADS_OF_STARTED = 32;
const GIBIBYTE = 2 ** 30;
// Milliseconds after its deadline that a call needs to be recorded and answered.
const RECORDING_TIME = 5_000;

/** The token under which the configuration is injected, and its shape. */
export class AppConfig {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** Leads to PostgreSQL past a pooler, for notifications, session locks and migrations. */
  readonly databaseDirectUrl?: string;
  readonly databasePoolSize: number;
  /** The first encrypts; all decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly catalogueFile?: string;
  /** Whether this process serves the web console and its sessions. */
  readonly console: boolean;
  readonly workers: number;
  /** `own`: a separate process delivers, so that calls never wait for deliveries. */
  readonly deliveryProcess: 'own' | 'shared';
  /** The process that starts this one sets it, never an operator. */
  readonly role: ProcessRole;
  /** Identifies the processes of one replica to each other. */
  readonly replicaId: string;
  /** Threads of this process for name resolution and file reads. */
  readonly threadPoolSize: number;
  readonly redisUrl?: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** The bearer token that GET /metrics requires; absent: none. */
  readonly metricsBearerToken?: string;
  /**
   * Whether the environment names an OTLP collector. The OpenTelemetry libraries read all other settings themselves.
   */
  readonly tracesItself: boolean;
  /** Origins whose pages may call from a browser; `*`: any; empty: none. */
  readonly corsAllowedOrigins: readonly string[];
  /** Limits of this process; requests beyond them are rejected with 503. */
  readonly loadShedding: {
    readonly callsInFlight: number;
    /** Chat calls and the drains of those whose client has left. */
    readonly chatsInFlight: number;
    readonly bytesInFlight: number;
    /** Milliseconds of event-loop delay beyond which fewer calls are admitted; 0: no limit. */
    readonly eventLoopDelay: number;
    readonly connections: number;
  };
  /** Bytes. POST /embeddings has a larger limit, unless MAX_BODY_BYTES sets both (docs/contract.md#limits). */
  readonly maxBodyBytes: number;
  readonly maxEmbeddingsBodyBytes: number;
  readonly destinationAllowedCidrs: readonly string[];
  /** For requests to providers. */
  readonly proxies: OutboundProxies;
  /** For all requests to destinations. */
  readonly destinationsProxyUrl?: string;
  /** Peers whose `X-Forwarded-For` is trusted; empty: none (docs/contract.md#rate-limits). */
  readonly trustedProxies: readonly string[];
  /** Requests a minute; 0 switches the limit off (docs/contract.md#rate-limits). */
  readonly rateLimits: {
    readonly management: number;
    readonly inference: number;
    readonly failedAuthentication: number;
    /** For each account: requests of management keys that may change something. */
    readonly changes: number;
    /** For each address: requests of routes that need no credential. */
    readonly public: number;
  };
  /** Objects of one workspace or account; a creation beyond the limit is rejected with 409. */
  readonly quotas: {
    readonly keysPerWorkspace: number;
    readonly keysPerAccount: number;
    readonly workspacesPerAccount: number;
    readonly membersPerWorkspace: number;
  };
  /** Bytes that the calls of one workspace may store; 0 switches the quota off. */
  readonly storageQuotas: {
    /** Contents that wait for deliveries; beyond it contents are not stored. */
    readonly contentBytes: number;
    /** Records of one UTC day; beyond it calls are rejected with 429. */
    readonly dailyLogBytes: number;
  };
  /** Days after which deleted keys, destinations and provider credentials are purged. */
  readonly deletedRetentionDays: number;
  /** How long the log is kept (docs/operating.md#retention-and-deletion). */
  readonly retention: {
    /** 0: for ever. */
    readonly generationDays: number;
    /** 0: contents are never stored. */
    readonly contentHours: number;
    /** 0: for ever. */
    readonly auditDays: number;
  };
  /** The ClickHouse server that keeps the log beyond its retention (docs/operating.md#history). */
  readonly history?: HistoryConfig;
  /** Milliseconds (docs/contract.md#limits). */
  readonly operationDeadline: number;
  readonly providerTimeout: number;
  /** Retries after a transient failure of the last endpoint. */
  readonly providerRetries: number;
  /** Milliseconds; the upper bound of the first random delay. It doubles with each retry. */
  readonly retryBaseDelay: number;
  /** Concurrent calls to one endpoint. */
  readonly endpointConcurrency: number;
  /** Chat calls (docs/operating.md#chat); times in milliseconds. */
  readonly chat: ChatConfig;
  /** Embedding cache of this process; 0 bytes: none. */
  readonly embeddingCache: { readonly bytes: number; /** Milliseconds. */ readonly timeToLive: number };
  readonly deliveries: {
    /** Milliseconds; the upper bounds of the random delay after the first failed delivery, and after any. */
    readonly retryBaseDelay: number;
    readonly retryMaxDelay: number;
    /** Milliseconds between backlog scans, which catch missed notifications. */
    readonly sweepInterval: number;
    /** Requests that one destination has in flight at most, while it lags. */
    readonly requestsInFlight: number;
  };
  /** Milliseconds that in-flight calls have to finish after SIGTERM. */
  readonly shutdownGrace: number;
  /** By provider slug, from `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL`. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
}

/**
 * Reads the configuration; `providerSlugs` are the providers whose variables count.
 * Throws ConfigError for the first invalid variable. Every variable is in docs/operating.md.
 */
export function readAppConfig(
  environment: Readonly<Record<string, string | undefined>>,
  providerSlugs: readonly string[],
): AppConfig {
  const read = new EnvironmentReader(environment);
  const maxBodyBytes = read.optionalInteger('MAX_BODY_BYTES', 1024, 2 ** 30);
  const managementLimit = read.integer('RATE_LIMIT_MANAGEMENT_PER_MINUTE', 600, 0, 1e9);
  const operationDeadline = read.integer('OPERATION_DEADLINE_MS', 60_000, 100, 3_600_000);
  // No destination receives a generation that is older than a day.
  const contentHours = read.integer('CONTENT_RETENTION_HOURS', 24, 0, 24);
  return Object.freeze({
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65_535),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    ...read.optionalPostgresUrl('databaseDirectUrl', 'DATABASE_DIRECT_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 500),
    encryptionKeys: read.encryptionKeys('ENCRYPTION_KEYS'),
    ...read.optional('catalogueFile', 'CATALOGUE_FILE'),
    console: read.choice('CONSOLE', ['on', 'off'], 'on') === 'on',
    workers: read.integer('WORKERS', 1, 1, 256),
    deliveryProcess: read.choice('DELIVERY_PROCESS', ['own', 'shared'], 'own'),
    role: read.choice(ROLE_VARIABLE, PROCESS_ROLES, 'all'),
    replicaId: read.text(REPLICA_VARIABLE, randomUUID()),
    threadPoolSize: read.integer(THREADS_VARIABLE, USUAL_THREADS, 1, 1_024),
    ...read.redisUrl('redisUrl', 'REDIS_URL'),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    ...read.token('metricsBearerToken', 'METRICS_BEARER_TOKEN'),
    tracesItself: read.tracesItself(),
    corsAllowedOrigins: read.origins('CORS_ALLOWED_ORIGINS'),
    loadShedding: {
      callsInFlight: read.integer('MAX_CALLS_IN_FLIGHT', 1_024, 1, 1_000_000),
      chatsInFlight: read.integer('MAX_CHATS_IN_FLIGHT', 1_024, 1, 1_000_000),
      bytesInFlight: read.integer('MAX_BYTES_IN_FLIGHT', defaultBytesInFlight(), 1024, 2 ** 40),
      eventLoopDelay: read.integer('MAX_EVENT_LOOP_DELAY_MS', 250, 0, 60_000),
      connections: read.integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    },
    maxBodyBytes: maxBodyBytes ?? 1024 * 1024,
    maxEmbeddingsBodyBytes: maxBodyBytes ?? 20 * 1024 * 1024,
    destinationAllowedCidrs: read.cidrs('DESTINATION_ALLOWED_CIDRS'),
    proxies: read.proxies(),
    ...read.proxyUrl('destinationsProxyUrl', ['DESTINATIONS_PROXY_URL']),
    trustedProxies: read.cidrs('TRUSTED_PROXIES'),
    rateLimits: {
      management: managementLimit,
      inference: read.integer('RATE_LIMIT_INFERENCE_PER_MINUTE', 6000, 0, 1e9),
      failedAuthentication: read.integer('RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE', 300, 0, 1e9),
      changes: read.integer('RATE_LIMIT_CHANGES_PER_MINUTE', managementLimit, 0, 1e9),
      public: read.integer('RATE_LIMIT_PUBLIC_PER_MINUTE', 6000, 0, 1e9),
    },
    quotas: {
      keysPerWorkspace: read.integer('MAX_KEYS_PER_WORKSPACE', 100_000, 1, 1e9),
      keysPerAccount: read.integer('MAX_KEYS_PER_ACCOUNT', 250_000, 1, 1e9),
      workspacesPerAccount: read.integer('MAX_WORKSPACES_PER_ACCOUNT', 1_000, 1, 1e9),
      membersPerWorkspace: read.integer('MAX_MEMBERS_PER_WORKSPACE', 10_000, 1, 1e9),
    },
    storageQuotas: {
      contentBytes: read.integer('WORKSPACE_CONTENT_QUOTA_BYTES', 10 * GIBIBYTE, 0, 2 ** 50),
      dailyLogBytes: read.integer('WORKSPACE_DAILY_LOG_QUOTA_BYTES', 50 * GIBIBYTE, 0, 2 ** 50),
    },
    // /activity names deleted keys of the last 30 days by their hashes.
    deletedRetentionDays: read.integer('DELETED_RETENTION_DAYS', 90, 31, 36_500),
    retention: {
      generationDays: readGenerationDays(read),
      contentHours,
      auditDays: read.integer('AUDIT_RETENTION_DAYS', 365, 0, 36_500),
    },
    ...readHistoryConfig(read, contentHours),
    operationDeadline,
    providerTimeout: read.integer('PROVIDER_TIMEOUT_MS', 30_000, 100, 3_600_000),
    providerRetries: read.integer('PROVIDER_RETRIES', 2, 0, 10),
    retryBaseDelay: read.integer('PROVIDER_RETRY_BASE_DELAY_MS', 500, 0, 60_000),
    endpointConcurrency: read.integer('ENDPOINT_CONCURRENCY', 256, 1, 100_000),
    chat: readChatConfig(read),
    embeddingCache: {
      bytes: read.integer('EMBEDDING_CACHE_BYTES', 64 * 1024 * 1024, 0, 2 ** 40),
      timeToLive: read.integer('EMBEDDING_CACHE_TTL', 3_600, 1, 31_536_000) * 1000,
    },
    deliveries: {
      retryBaseDelay: read.integer('BROADCAST_RETRY_BASE_DELAY_MS', 1_000, 1, 3_600_000),
      retryMaxDelay: read.integer('BROADCAST_RETRY_MAX_DELAY_MS', 300_000, 1, 3_600_000),
      sweepInterval: read.integer('BROADCAST_SWEEP_INTERVAL_MS', 5_000, 100, 3_600_000),
      requestsInFlight: read.integer('DELIVERY_REQUESTS_IN_FLIGHT', 4, 1, 32),
    },
    // A shorter grace discards calls that providers charge for.
    shutdownGrace: read.integer('SHUTDOWN_GRACE_MS', operationDeadline + RECORDING_TIME, 0, 3_600_000),
    providers: read.providers(providerSlugs),
  });
}

/** Deliveries read two days back: a log of a single day would lose some of them. */
function readGenerationDays(read: EnvironmentReader): number {
  const days = read.integer('GENERATION_RETENTION_DAYS', 90, 0, 36_500);
  if (days === 1) throw new ConfigError('GENERATION_RETENTION_DAYS must be 0 (for ever) or at least 2');
  return days;
}

/** The environment that a started process gets in addition to this one's. */
export function environmentOf(
  role: ProcessRole,
  { replicaId, threadPoolSize }: AppConfig,
): Readonly<Record<string, string>> {
  const threads = { [THREADS_VARIABLE]: String(Math.max(threadPoolSize, THREADS_OF_STARTED)) };
  // With deliveries in every worker, each worker is a replica of its own: it claims the backlog of its own calls.
  return role === 'all' ? threads : { ...threads, [ROLE_VARIABLE]: role, [REPLICA_VARIABLE]: replicaId };
}

/** A request holds its body several times at once: as bytes, as text and as values. */
function defaultBytesInFlight(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 16);
}
