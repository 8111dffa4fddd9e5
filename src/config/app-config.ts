// Reads and validates the environment once at the start, into one frozen, typed object. No other file reads
// process.env.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import type { PicoUsd } from '../domain/spend/money.js';
import { ConfigError, EnvironmentReader } from './environment-reader.js';
import type { EncryptionKey, OutboundProxies, ProviderSettings } from './environment-reader.js';
import { LONGEST_CALL, readChatConfig } from './chat-config.js';
import type { ChatConfig } from './chat-config.js';
import { readHistoryConfig } from './history-config.js';
import type { HistoryConfig } from './history-config.js';
import { readSignInConfig } from './sign-in-config.js';
import type { SignInConfig } from './sign-in-config.js';
import {
  readBodyLimits,
  readLoadShedding,
  readMaxUnpaid,
  readQuotas,
  readRateLimits,
  readStorageQuotas,
} from './limits-config.js';
import type {
  LoadSheddingConfig,
  QuotasConfig,
  RateLimitsConfig,
  StorageQuotasConfig,
} from './limits-config.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const LOG_FORMATS = ['json', 'text'] as const;
const STANDARD_OUTPUT = 1;

const PROCESS_ROLES = ['all', 'calls', 'deliveries'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
/** The members that a connection to the database needs. */
export type DatabaseConfig = Pick<AppConfig, 'databaseUrl' | 'databaseDirectUrl' | 'databasePoolSize'>;
// Variables that a process sets for the processes that it starts.
const ROLE_VARIABLE = 'SIGNALBOX_ROLE';
const REPLICA_VARIABLE = 'SIGNALBOX_REPLICA';
const WORKER_VARIABLE = 'SIGNALBOX_WORKER';
const DEFAULT_PORT = 3000;
// Node's own variable: the number of threads that resolve names and read files. Each name whose server does not
// answer blocks one thread for ten seconds or more; idle threads cost nothing. Started processes therefore get at
// least 32.
const THREADS_VARIABLE = 'UV_THREADPOOL_SIZE';
const USUAL_THREADS = 4;
const THREADS_OF_STARTED = 32;
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
  /** Ids of the accounts whose management keys change the catalogue; empty: none does. */
  readonly operatorAccounts: readonly string[];
  /** Whether the process that delivers asks providers for their models by itself. */
  readonly discoversModels: boolean;
  /** The path below which a reverse proxy serves this service; empty: at the root of its host. */
  readonly publicPath: string;
  /** Whether this process serves the web console and its sessions. */
  readonly console: boolean;
  /** The issuers that sign people in; absent: keys alone do. */
  readonly signIn?: SignInConfig;
  readonly workers: number;
  /** `own`: a separate process delivers, so that calls never wait for deliveries. */
  readonly deliveryProcess: 'own' | 'shared';
  /** The process that starts this one sets it, never an operator. */
  readonly role: ProcessRole;
  /** Identifies the processes of one replica to each other. */
  readonly replicaId: string;
  /**
   * The place of this process among all: the replica's name and the number of the worker. A process that is started again has
   * it again. Null: the replica has no name, and a port of the system's choice.
   */
  readonly place: string | null;
  /** Threads of this process for name resolution and file reads. */
  readonly threadPoolSize: number;
  readonly redisUrl?: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: (typeof LOG_FORMATS)[number];
  /** The bearer token that GET /metrics requires; absent: none. */
  readonly metricsBearerToken?: string;
  /**
   * Whether the environment names an OTLP collector. The OpenTelemetry libraries read all other settings themselves.
   */
  readonly tracesItself: boolean;
  /** Origins whose pages may call from a browser; `*`: any; empty: none. */
  readonly corsAllowedOrigins: readonly string[];
  /** Limits of this process; requests beyond them are rejected with 503. */
  readonly loadShedding: LoadSheddingConfig;
  /** Bytes. POST /embeddings has a larger limit, unless MAX_BODY_BYTES sets both (docs/contract.md#limits). */
  readonly maxBodyBytes: number;
  readonly maxEmbeddingsBodyBytes: number;
  /** Hosts to which codes may be sent over https, each with its port unless it is 443; empty: loopback alone. */
  readonly authCallbackHosts: readonly string[];
  readonly destinationAllowedCidrs: readonly string[];
  /** For requests to providers. */
  readonly proxies: OutboundProxies;
  /** For all requests to destinations. */
  readonly destinationsProxyUrl?: string;
  /** Peers whose `X-Forwarded-For` is trusted; empty: none (docs/contract.md#rate-limits). */
  readonly trustedProxies: readonly string[];
  /** Requests a minute; 0 switches the limit off (docs/contract.md#rate-limits). */
  readonly rateLimits: RateLimitsConfig;
  /** Objects of one workspace or account; a creation beyond the limit is rejected with 409. */
  readonly quotas: QuotasConfig;
  /** USD of providers' bills that one key may leave unpaid in a UTC day; null: no limit (docs/contract.md#spend). */
  readonly maxUnpaid: PicoUsd | null;
  /** Bytes that the calls of one workspace may store; 0 switches the quota off. */
  readonly storageQuotas: StorageQuotasConfig;
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
  /** Chat calls (docs/operating.md#variables); times in milliseconds. */
  readonly chat: ChatConfig;
  /** Embedding cache of this process; 0 bytes: none. */
  readonly embeddingCache: { readonly bytes: number; /** Milliseconds. */ readonly timeToLive: number };
  readonly deliveries: {
    /** Milliseconds; the upper bounds of the random delay after the first failed delivery, and after any. */
    readonly retryBaseDelay: number;
    readonly retryMaxDelay: number;
    /** Milliseconds between backlog scans, which catch missed notifications. */
    readonly backlogScanInterval: number;
    /** Requests that one destination has in flight at most, while it lags. */
    readonly requestsInFlight: number;
  };
  /** Milliseconds from SIGTERM in which /ready answers 503 and requests are still accepted. */
  readonly shutdownAnnounce: number;
  /** Milliseconds that in-flight calls have to finish after that. */
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
  return Object.freeze({
    ...readProcess(read),
    loadShedding: readLoadShedding(read),
    ...readBodyLimits(read),
    ...readNetwork(read),
    rateLimits: readRateLimits(read),
    quotas: readQuotas(read),
    maxUnpaid: readMaxUnpaid(read),
    storageQuotas: readStorageQuotas(read),
    ...readRetention(read),
    ...readCalls(read),
    deliveries: {
      retryBaseDelay: read.integer('BROADCAST_RETRY_BASE_DELAY_MS', 1_000, 1, 3_600_000),
      retryMaxDelay: read.integer('BROADCAST_RETRY_MAX_DELAY_MS', 300_000, 1, 3_600_000),
      backlogScanInterval: read.integer('BROADCAST_SWEEP_INTERVAL_MS', 5_000, 100, 3_600_000),
      requestsInFlight: read.integer('DELIVERY_REQUESTS_IN_FLIGHT', 4, 1, 32),
    },
    providers: read.providers(providerSlugs),
  });
}

/** For commands, which need no other variable. */
export function readDatabase(read: EnvironmentReader): DatabaseConfig {
  return {
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    ...read.optionalPostgresUrl('databaseDirectUrl', 'DATABASE_DIRECT_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 500),
  };
}

/** For commands that decrypt. */
export function readEncryption(read: EnvironmentReader): Pick<AppConfig, 'encryptionKeys'> {
  return { encryptionKeys: read.encryptionKeys('ENCRYPTION_KEYS') };
}

/** For lines of a start before its configuration is read. */
export function readLog(read: EnvironmentReader): Pick<AppConfig, 'logLevel' | 'logFormat'> {
  return {
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    // `process.stdout` would make a pipe one that takes no more than it has room for.
    logFormat: read.choice('LOG_FORMAT', LOG_FORMATS, isatty(STANDARD_OUTPUT) ? 'text' : 'json'),
  };
}

/** The process itself: its address, database, role and reports. */
function readProcess(read: EnvironmentReader) {
  const publicPath = read.publicPath('PUBLIC_PATH');
  return {
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', DEFAULT_PORT, 0, 65_535),
    ...readDatabase(read),
    ...readEncryption(read),
    ...read.optional('catalogueFile', 'CATALOGUE_FILE'),
    operatorAccounts: read.ids('OPERATOR_ACCOUNTS'),
    discoversModels: read.choice('MODEL_DISCOVERY', ['on', 'off'], 'on') === 'on',
    publicPath,
    console: read.choice('CONSOLE', ['on', 'off'], 'on') === 'on',
    ...readSignInConfig(read, publicPath),
    workers: read.integer('WORKERS', 1, 1, 256),
    deliveryProcess: read.choice('DELIVERY_PROCESS', ['own', 'shared'], 'own'),
    role: read.choice(ROLE_VARIABLE, PROCESS_ROLES, 'all'),
    replicaId: read.text(REPLICA_VARIABLE, randomUUID()),
    place: readPlace(read),
    threadPoolSize: read.integer(THREADS_VARIABLE, USUAL_THREADS, 1, 1_024),
    ...read.redisUrl('redisUrl', 'REDIS_URL'),
    ...readLog(read),
    ...read.token('metricsBearerToken', 'METRICS_BEARER_TOKEN'),
    tracesItself: read.tracesItself(),
    corsAllowedOrigins: read.origins('CORS_ALLOWED_ORIGINS'),
  };
}

function readPlace(read: EnvironmentReader): string | null {
  const port = read.text('PORT', String(DEFAULT_PORT));
  const name = read.text('REPLICA_NAME', port === '0' ? '' : `${hostname()}:${port}`);
  return name === '' ? null : `${name}/${read.integer(WORKER_VARIABLE, 0, 0, 1e9)}`;
}

function readNetwork(read: EnvironmentReader) {
  return {
    authCallbackHosts: read.hosts('AUTH_CALLBACK_HOSTS'),
    destinationAllowedCidrs: read.cidrs('DESTINATION_ALLOWED_CIDRS'),
    proxies: read.proxies(),
    ...read.proxyUrl('destinationsProxyUrl', ['DESTINATIONS_PROXY_URL']),
    trustedProxies: read.cidrs('TRUSTED_PROXIES'),
  };
}

function readRetention(read: EnvironmentReader) {
  // No destination receives a generation that is older than a day.
  const contentHours = read.integer('CONTENT_RETENTION_HOURS', 24, 0, 24);
  return {
    // /activity names deleted keys of the last 30 days by their hashes.
    deletedRetentionDays: read.integer('DELETED_RETENTION_DAYS', 90, 31, 36_500),
    retention: {
      generationDays: readGenerationDays(read),
      contentHours,
      auditDays: read.integer('AUDIT_RETENTION_DAYS', 365, 0, 36_500),
    },
    ...readHistoryConfig(read, contentHours),
  };
}

/** Calls to providers, and the end of the process, which waits for them. */
function readCalls(read: EnvironmentReader) {
  const operationDeadline = read.integer('OPERATION_DEADLINE_MS', 60_000, 100, LONGEST_CALL);
  return {
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
    shutdownAnnounce: read.integer('SHUTDOWN_ANNOUNCE_MS', 5_000, 0, 600_000),
    // A shorter grace discards calls that providers charge for.
    shutdownGrace: read.integer('SHUTDOWN_GRACE_MS', operationDeadline + RECORDING_TIME, 0, 3_600_000),
  };
}

/** Deliveries read two days back: a log of a single day would lose some of them. */
function readGenerationDays(read: EnvironmentReader): number {
  const days = read.integer('GENERATION_RETENTION_DAYS', 90, 0, 36_500);
  if (days === 1) throw new ConfigError('GENERATION_RETENTION_DAYS must be 0 (for ever) or at least 2');
  return days;
}

/** The environment that a started process gets in addition to this one's; `worker`: its number, that of the one it replaces. */
export function environmentOf(
  role: ProcessRole,
  worker: number,
  { replicaId, threadPoolSize }: AppConfig,
): Readonly<Record<string, string>> {
  const own = {
    [THREADS_VARIABLE]: String(Math.max(threadPoolSize, THREADS_OF_STARTED)),
    [WORKER_VARIABLE]: String(worker),
  };
  // With deliveries in every worker, each worker is a replica of its own: it claims the backlog of its own calls.
  return role === 'all' ? own : { ...own, [ROLE_VARIABLE]: role, [REPLICA_VARIABLE]: replicaId };
}
