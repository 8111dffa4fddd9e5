// The environment, read and validated once at the start into one frozen, typed object. Nobody else reads process.env.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { getHeapStatistics } from 'node:v8';

export interface EncryptionKey {
  /** First 8 hex digits of the key's SHA-256: stored beside what the key encrypted. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface ProviderSettings {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

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
  readonly redisUrl?: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** What GET /metrics asks for; absent: nothing. */
  readonly metricsBearerToken?: string;
  /** Whether an OTLP collector is named for spans of this service's own work; all else about it the library reads. */
  readonly tracesItself: boolean;
  /** Whose pages in a browser may call; `*`: anybody's. Empty: nobody's. */
  readonly corsAllowedOrigins: readonly string[];
  /** What this process takes on at once; beyond it requests are refused with 503. */
  readonly admission: {
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
  /** Requests a minute; 0 switches the limit off (decisions 20). */
  readonly rateLimits: {
    readonly management: number;
    readonly inference: number;
    readonly failedAuthentication: number;
  };
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
  readonly broadcast: {
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

/** A value of the environment that cannot be used: one line that names the variable and never shows its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
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
  return Object.freeze({
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65_535),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 500),
    encryptionKeys: read.encryptionKeys('ENCRYPTION_KEYS'),
    ...read.optional('catalogueFile', 'CATALOGUE_FILE'),
    workers: read.integer('WORKERS', 1, 1, 256),
    ...read.redisUrl('redisUrl', 'REDIS_URL'),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    ...read.token('metricsBearerToken', 'METRICS_BEARER_TOKEN'),
    tracesItself: read.tracesItself(),
    corsAllowedOrigins: read.origins('CORS_ALLOWED_ORIGINS'),
    admission: {
      callsInFlight: read.integer('MAX_CALLS_IN_FLIGHT', 1_024, 1, 1_000_000),
      bytesInFlight: read.integer('MAX_BYTES_IN_FLIGHT', defaultBytesInFlight(), 1024, 2 ** 40),
      eventLoopDelay: read.integer('MAX_EVENT_LOOP_DELAY_MS', 250, 0, 60_000),
      connections: read.integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    },
    maxBodyBytes: maxBodyBytes ?? 1024 * 1024,
    maxEmbeddingsBodyBytes: maxBodyBytes ?? 20 * 1024 * 1024,
    destinationAllowedCidrs: read.cidrs('DESTINATION_ALLOWED_CIDRS'),
    rateLimits: {
      management: read.integer('RATE_LIMIT_MANAGEMENT_PER_MINUTE', 600, 0, 1e9),
      inference: read.integer('RATE_LIMIT_INFERENCE_PER_MINUTE', 6000, 0, 1e9),
      failedAuthentication: read.integer('RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE', 300, 0, 1e9),
    },
    operationDeadline: read.integer('OPERATION_DEADLINE_MS', 60_000, 100, 3_600_000),
    providerTimeout: read.integer('PROVIDER_TIMEOUT_MS', 30_000, 100, 3_600_000),
    providerRetries: read.integer('PROVIDER_RETRIES', 2, 0, 10),
    retryBaseDelay: read.integer('PROVIDER_RETRY_BASE_DELAY_MS', 500, 0, 60_000),
    endpointConcurrency: read.integer('ENDPOINT_CONCURRENCY', 256, 1, 100_000),
    embeddingCache: {
      bytes: read.integer('EMBEDDING_CACHE_BYTES', 64 * 1024 * 1024, 0, 2 ** 40),
      timeToLive: read.integer('EMBEDDING_CACHE_TTL', 3_600, 1, 31_536_000) * 1000,
    },
    broadcast: {
      retryBaseDelay: read.integer('BROADCAST_RETRY_BASE_DELAY_MS', 1_000, 1, 3_600_000),
      retryMaxDelay: read.integer('BROADCAST_RETRY_MAX_DELAY_MS', 300_000, 1, 3_600_000),
      sweepInterval: read.integer('BROADCAST_SWEEP_INTERVAL_MS', 5_000, 100, 3_600_000),
    },
    shutdownGrace: read.integer('SHUTDOWN_GRACE_MS', 30_000, 0, 3_600_000),
    providers: read.providers(providerSlugs),
  });
}

/** A body is held several times over while it is read, judged and sent on: as bytes, as text, as values. */
function defaultBytesInFlight(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 16);
}

class EnvironmentReader {
  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  text(name: string, fallback: string): string {
    return this.value(name) ?? fallback;
  }

  optional<Key extends string>(key: Key, name: string): { [Property in Key]?: string } {
    const value = this.value(name);
    return (value === undefined ? {} : { [key]: value }) as { [Property in Key]?: string };
  }

  integer(name: string, fallback: number, least: number, most: number): number {
    return this.optionalInteger(name, least, most) ?? fallback;
  }

  optionalInteger(name: string, least: number, most: number): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new ConfigError(`${name} must be a whole number from ${least} to ${most}`);
    }
    return number;
  }

  choice<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = this.value(name);
    if (value === undefined) return fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw new ConfigError(`${name} must be one of ${values.join(', ')}`);
    return found;
  }

  postgresUrl(name: string): string {
    const value = this.value(name);
    if (value === undefined)
      throw new ConfigError(`${name} must be set, for example postgresql://user@host:5432/signalbox`);
    if (!hasScheme(value, ['postgres:', 'postgresql:'])) {
      throw new ConfigError(`${name} must be an address that begins with postgresql://`);
    }
    return value;
  }

  redisUrl<Key extends string>(key: Key, name: string): { [Property in Key]?: string } {
    const value = this.value(name);
    if (value !== undefined && !hasScheme(value, ['redis:', 'rediss:'])) {
      throw new ConfigError(`${name} must be an address that begins with redis:// or rediss://`);
    }
    return this.optional(key, name);
  }

  encryptionKeys(name: string): EncryptionKey[] {
    const value = this.value(name);
    if (value === undefined) {
      throw new ConfigError(
        `${name} must be set to a base64 key of 32 bytes; make one with: openssl rand -base64 32`,
      );
    }
    return value.split(',').map((text, index) => {
      const bytes = Buffer.from(text.trim(), 'base64');
      if (bytes.length !== 32 || !/^[A-Za-z0-9+/]{43}=$/.test(text.trim())) {
        throw new ConfigError(
          `${name} must be base64 keys of 32 bytes, separated by commas; number ${index + 1} is not`,
        );
      }
      return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
    });
  }

  cidrs(name: string): string[] {
    const value = this.value(name);
    if (value === undefined) return [];
    return value.split(',').map((text) => {
      const [address = '', prefix = '', ...rest] = text.trim().split('/');
      const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
      if (rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) {
        throw new ConfigError(
          `${name} must be address ranges such as 10.0.0.0/8 or fd00::/8, separated by commas`,
        );
      }
      return text.trim();
    });
  }

  /** What stands behind `Bearer `. */
  token<Key extends string>(key: Key, name: string): { [Property in Key]?: string } {
    const value = this.value(name);
    if (value !== undefined && !/^[\w.~+/-]{16,512}=*$/.test(value)) {
      throw new ConfigError(
        `${name} must be 16 to 512 letters, digits and -._~+/; make one with: openssl rand -hex 32`,
      );
    }
    return this.optional(key, name);
  }

  tracesItself(): boolean {
    const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
    const named = names.filter((name) => this.value(name) !== undefined);
    for (const name of named) {
      if (hasScheme(this.value(name) ?? '', ['http:', 'https:'])) continue;
      throw new ConfigError(`${name} must be an address that begins with http:// or https://`);
    }
    return named.length > 0 && this.value('OTEL_SDK_DISABLED')?.toLowerCase() !== 'true';
  }

  /** As browsers send them: scheme, host and a port that is not the scheme's own. */
  origins(name: string): string[] {
    const value = this.value(name);
    if (value === undefined) return [];
    return value.split(',').map((text) => {
      const origin = text.trim();
      if (origin !== '*' && !(hasScheme(origin, ['http:', 'https:']) && new URL(origin).origin === origin)) {
        throw new ConfigError(
          `${name} must be origins such as https://dashboard.example.com, separated by commas, or *`,
        );
      }
      return origin;
    });
  }

  providers(slugs: readonly string[]): ReadonlyMap<string, ProviderSettings> {
    return new Map(
      slugs.map((slug) => {
        const prefix = slug.toUpperCase().replaceAll('-', '_');
        const baseUrl = this.value(`${prefix}_BASE_URL`);
        if (baseUrl !== undefined && !hasScheme(baseUrl, ['http:', 'https:'])) {
          throw new ConfigError(`${prefix}_BASE_URL must be an address that begins with http:// or https://`);
        }
        return [
          slug,
          {
            ...this.optional('apiKey', `${prefix}_API_KEY`),
            ...(baseUrl === undefined ? {} : { baseUrl: baseUrl.replace(/\/+$/, '') }),
          },
        ];
      }),
    );
  }

  /** An empty variable counts as not set, as Compose files and CI systems write them. */
  private value(name: string): string | undefined {
    const value = this.environment[name]?.trim();
    return value === '' ? undefined : value;
  }
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}
