// The environment, read and validated once at the start into one frozen, typed object. Nobody else reads process.env.
import { randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { EnvironmentReader } from './environment-reader.js';
import type { EncryptionKey, ProviderSettings } from './environment-reader.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const PROCESS_ROLES = ['all', 'calls', 'deliveries'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
// How a process tells those that it starts.
const ROLE_VARIABLE = 'SIGNALBOX_DUTY';
const REPLICA_VARIABLE = 'SIGNALBOX_REPLICA';
// Node's own variable: how many threads look up names and read files, unless given, and at least in processes that this
// one starts. Idle they cost nothing, and each name whose server does not answer holds one for ten seconds and more.
const THREADS_VARIABLE = 'UV_THREADPOOL_SIZE';
const USUAL_THREADS = 4;
const THREADS_OF_STARTED = 32;
const GIBIBYTE = 2 ** 30;
// Milliseconds, beyond its deadline, until a call is recorded and its answer has left.
const RECORDING_TIME = 5_000;

/** The token under which the configuration is injected, and its shape. */
export class AppConfig {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** The first encrypts; every one decrypts. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly catalogueFile?: string;
  readonly workers: number;
  /** Whether the workers leave deliveries to a process of their own, so that no call ever waits for one. */
  readonly deliveryProcess: 'own' | 'shared';
  /** What this process is there for. Set by the process that starts it, never by an operator. */
  readonly role: ProcessRole;
  /** What the processes of one replica know each other by. */
  readonly replicaId: string;
  /** Of this process: what is looked up or read meanwhile. */
  readonly threadPoolSize: number;
  readonly redisUrl?: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** What GET /metrics asks for; absent: nothing. */
  readonly metricsBearerToken?: string;
  /** Whether an OTLP collector is named for spans of this service's own work; all else about it the library reads. */
  readonly tracesItself: boolean;
  /** Whose pages in a browser may call; `*`: anybody's. Empty: nobody's. */
  readonly corsAllowedOrigins: readonly string[];
  /** What this process takes on at once; beyond it requests are refused with 503. */
  readonly loadShedding: {
    readonly callsInFlight: number;
    readonly bytesInFlight: number;
    /** Milliseconds that the event loop may stay late before fewer calls are let in; 0: any. */
    readonly eventLoopDelay: number;
    readonly connections: number;
  };
  /** Bytes; POST /embeddings has a larger allowance of its own unless MAX_BODY_BYTES sets both (decisions 19). */
  readonly maxBodyBytes: number;
  readonly maxEmbeddingsBodyBytes: number;
  readonly destinationAllowedCidrs: readonly string[];
  /** Whose `X-Forwarded-For` is believed. Empty: of no connection (decisions 20). */
  readonly trustedProxies: readonly string[];
  /** Requests a minute; 0 switches the limit off (decisions 20). */
  readonly rateLimits: {
    readonly management: number;
    readonly inference: number;
    readonly failedAuthentication: number;
    /** Of one account: requests of management keys that may change something. */
    readonly changes: number;
    /** Of one address: requests of routes that need no credential. */
    readonly public: number;
  };
  /** What one workspace or account may have; the next creation is 409. */
  readonly quotas: {
    readonly keysPerWorkspace: number;
    readonly keysPerAccount: number;
    readonly workspacesPerAccount: number;
    readonly membersPerWorkspace: number;
  };
  /** Bytes that the calls of one workspace may store; 0 switches the quota off. */
  readonly storageQuotas: {
    /** Contents that wait for deliveries. Beyond it contents are not stored. */
    readonly contentBytes: number;
    /** Records of one UTC day. Beyond it calls are refused with 429. */
    readonly dailyLogBytes: number;
  };
  /** Days after which deleted keys, destinations and provider credentials are purged. */
  readonly deletedRetentionDays: number;
  /** Milliseconds (decisions 21). */
  readonly operationDeadline: number;
  readonly providerTimeout: number;
  /** How often a passing failure of the last endpoint is tried again. */
  readonly providerRetries: number;
  /** Milliseconds; the bound of the first random pause between tries, doubled for each next one. */
  readonly retryBaseDelay: number;
  /** Calls to one endpoint that may be under way at once. */
  readonly endpointConcurrency: number;
  /** Vectors that a process keeps for calls that ask for it; 0 bytes: none. */
  readonly embeddingCache: { readonly bytes: number; /** Milliseconds. */ readonly timeToLive: number };
  readonly deliveries: {
    /** Milliseconds; the bounds of the random pause after a failed delivery: of the first one, and of any. */
    readonly retryBaseDelay: number;
    readonly retryMaxDelay: number;
    /** Milliseconds between looks for destinations that nobody has woken. */
    readonly sweepInterval: number;
  };
  /** Milliseconds that calls in flight have to finish in after SIGTERM. */
  readonly shutdownGrace: number;
  /** By the provider's slug: what `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL` say. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
}

/**
 * Reads what the service needs; `providerSlugs` are the providers whose variables count.
 * Throws ConfigError for the first variable that is wrong. Source: architecture "What operators and tests rely on".
 */
export function readAppConfig(
  environment: Readonly<Record<string, string | undefined>>,
  providerSlugs: readonly string[],
): AppConfig {
  const read = new EnvironmentReader(environment);
  const maxBodyBytes = read.optionalInteger('MAX_BODY_BYTES', 1024, 2 ** 30);
  const managementLimit = read.integer('RATE_LIMIT_MANAGEMENT_PER_MINUTE', 600, 0, 1e9);
  const operationDeadline = read.integer('OPERATION_DEADLINE_MS', 60_000, 100, 3_600_000);
  return Object.freeze({
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65_535),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 500),
    encryptionKeys: read.encryptionKeys('ENCRYPTION_KEYS'),
    ...read.optional('catalogueFile', 'CATALOGUE_FILE'),
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
      bytesInFlight: read.integer('MAX_BYTES_IN_FLIGHT', defaultBytesInFlight(), 1024, 2 ** 40),
      eventLoopDelay: read.integer('MAX_EVENT_LOOP_DELAY_MS', 250, 0, 60_000),
      connections: read.integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    },
    maxBodyBytes: maxBodyBytes ?? 1024 * 1024,
    maxEmbeddingsBodyBytes: maxBodyBytes ?? 20 * 1024 * 1024,
    destinationAllowedCidrs: read.cidrs('DESTINATION_ALLOWED_CIDRS'),
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
    // /activity names keys of the last 30 days by their hashes.
    deletedRetentionDays: read.integer('DELETED_RETENTION_DAYS', 90, 31, 36_500),
    operationDeadline,
    providerTimeout: read.integer('PROVIDER_TIMEOUT_MS', 30_000, 100, 3_600_000),
    providerRetries: read.integer('PROVIDER_RETRIES', 2, 0, 10),
    retryBaseDelay: read.integer('PROVIDER_RETRY_BASE_DELAY_MS', 500, 0, 60_000),
    endpointConcurrency: read.integer('ENDPOINT_CONCURRENCY', 256, 1, 100_000),
    embeddingCache: {
      bytes: read.integer('EMBEDDING_CACHE_BYTES', 64 * 1024 * 1024, 0, 2 ** 40),
      timeToLive: read.integer('EMBEDDING_CACHE_TTL', 3_600, 1, 31_536_000) * 1000,
    },
    deliveries: {
      retryBaseDelay: read.integer('BROADCAST_RETRY_BASE_DELAY_MS', 1_000, 1, 3_600_000),
      retryMaxDelay: read.integer('BROADCAST_RETRY_MAX_DELAY_MS', 300_000, 1, 3_600_000),
      sweepInterval: read.integer('BROADCAST_SWEEP_INTERVAL_MS', 5_000, 100, 3_600_000),
    },
    // What ends sooner throws away calls that providers charge for.
    shutdownGrace: read.integer('SHUTDOWN_GRACE_MS', operationDeadline + RECORDING_TIME, 0, 3_600_000),
    providers: read.providers(providerSlugs),
  });
}

/** What a process that this one starts has in its environment beside what this one has. */
export function environmentOf(
  role: ProcessRole,
  { replicaId, threadPoolSize }: AppConfig,
): Readonly<Record<string, string>> {
  const threads = { [THREADS_VARIABLE]: String(Math.max(threadPoolSize, THREADS_OF_STARTED)) };
  // Where every worker delivers, each is a replica of its own: it claims what waits for its own calls.
  return role === 'all' ? threads : { ...threads, [ROLE_VARIABLE]: role, [REPLICA_VARIABLE]: replicaId };
}

/** A body is held several times over while it is read, judged and sent on: as bytes, as text, as values. */
function defaultBytesInFlight(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 16);
}
