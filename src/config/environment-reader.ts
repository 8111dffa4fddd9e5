// Reads and validates environment variables by type. An error names the variable and never shows its value.
import { parseDatabaseAddress } from '../domain/database-address.js';
import { parseUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { providerPrefix } from '../domain/providers/provider.js';
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

export interface EncryptionKey {
  /** First 8 hex digits of the key's SHA-256: stored beside what the key encrypted. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface ProviderSettings {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** The proxies of the operator's network. */
export interface OutboundProxies {
  /** For `http` addresses, and for `https` ones without `httpsProxy`. */
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Names and addresses that are reached directly, comma-separated. */
  readonly noProxy?: string;
}

/** In lower case. */
export const ACCOUNT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** An invalid variable: one line that names the variable and never shows its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

// First parts of the service's own paths and of the console's pages. A proxy that strips PUBLIC_PATH sends these.
const OWN_SEGMENTS = new Set(
  (
    'api console docs docs-json docs-yaml health ready metrics assets ' +
    'audit destinations generations keys models my-key playground provider-keys sign-in system workspaces'
  ).split(' '),
);

export class EnvironmentReader {
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

  /** An amount of USD that is not negative. */
  usd(name: string, fallback: string): PicoUsd {
    const value = this.text(name, fallback);
    try {
      const amount = parseUsd(value);
      if (amount >= 0n) return amount;
    } catch {
      // Reported below.
    }
    throw new ConfigError(`${name} must be an amount of USD such as 5 or 0.5`);
  }

  /** Empty for the root of the host. */
  publicPath(name: string): string {
    const path = this.text(name, '').replace(/\/$/, '');
    if (path !== '' && !/^(?:\/[\w~-][\w.~-]*)+$/.test(path))
      throw new ConfigError(`${name} must be a path such as /signalbox`);
    const [, first = ''] = path.split('/');
    if (OWN_SEGMENTS.has(first))
      throw new ConfigError(`${name} must not begin with /${first}, which is a path of this service`);
    return path;
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
    try {
      parseDatabaseAddress(value);
    } catch (error) {
      throw new ConfigError(`${name} ${(error as Error).message}`);
    }
    return value;
  }

  optionalPostgresUrl<Key extends string>(key: Key, name: string): { [Property in Key]?: string } {
    if (this.value(name) !== undefined) this.postgresUrl(name);
    return this.optional(key, name);
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

  /** A bearer token. */
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
    const isSwitchedOff =
      this.value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' ||
      this.value('OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none';
    return named.length > 0 && !isSwitchedOff;
  }

  /** Origins as browsers send them: scheme, host, and the port when it is not the scheme's default. */
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

  /** Hosts as they stand in https addresses, each with its port unless it is 443. Absent: none. */
  hosts(name: string): string[] {
    return this.list(name).map((host) => {
      if (hasScheme(`https://${host}`, ['https:']) && new URL(`https://${host}`).host === host) return host;
      throw new ConfigError(`${name} must be hosts such as app.example.com, separated by commas`);
    });
  }

  /** Ids, separated by commas. Absent: none. */
  ids(name: string): string[] {
    const ids = this.list(name);
    if (!ids.every((id) => ACCOUNT_ID.test(id)))
      throw new ConfigError(`${name} must be ids of accounts, separated by commas`);
    return ids;
  }

  /** In lower case. */
  private list(name: string): string[] {
    return (this.value(name) ?? '').split(',').flatMap((text) => text.trim().toLowerCase() || []);
  }

  /** The usual variables of programs behind a proxy; the spelling in lower case takes precedence, as in curl. */
  proxies(): OutboundProxies {
    return {
      ...this.proxyUrl('httpProxy', ['http_proxy', 'HTTP_PROXY']),
      ...this.proxyUrl('httpsProxy', ['https_proxy', 'HTTPS_PROXY']),
      ...this.firstOf('noProxy', ['no_proxy', 'NO_PROXY']),
    };
  }

  /** The first of the variables that is set. Without a scheme it is an address for http. */
  proxyUrl<Key extends string>(key: Key, names: readonly string[]): { [Property in Key]?: string } {
    const name = names.find((candidate) => this.value(candidate) !== undefined);
    if (name === undefined) return {};
    const value = this.value(name) ?? '';
    const url = value.includes('://') ? value : `http://${value}`;
    if (!hasScheme(url, ['http:', 'https:']) || !isSendable(url))
      throw new ConfigError(`${name} must be the address of a proxy such as http://user:password@proxy:3128`);
    return { [key]: url } as { [Property in Key]?: string };
  }

  private firstOf<Key extends string>(key: Key, names: readonly string[]): { [Property in Key]?: string } {
    const name = names.find((candidate) => this.value(candidate) !== undefined);
    return name === undefined ? {} : this.optional(key, name);
  }

  providers(slugs: readonly string[]): ReadonlyMap<string, ProviderSettings> {
    return new Map(
      slugs.map((slug) => {
        const prefix = providerPrefix(slug);
        const baseUrl = this.value(`${prefix}_BASE_URL`);
        if (baseUrl !== undefined && !hasScheme(baseUrl, ['http:', 'https:'])) {
          throw new ConfigError(`${prefix}_BASE_URL must be an address that begins with http:// or https://`);
        }
        if (baseUrl !== undefined && !isSendable(baseUrl)) {
          throw new ConfigError(
            `${prefix}_BASE_URL must have no fragment (#), and % in a user name or password is written as %25`,
          );
        }
        const apiKey = inOneLine(this.value(`${prefix}_API_KEY`));
        if (apiKey !== undefined && !/^[\x20-\x7e]+$/.test(apiKey)) {
          throw new ConfigError(
            `${prefix}_API_KEY must be one line of ASCII: no header can hold anything else`,
          );
        }
        return [
          slug,
          {
            ...(apiKey === undefined ? {} : { apiKey }),
            // Paths are inserted here, before the query.
            ...(baseUrl === undefined ? {} : { baseUrl: baseUrl.replace(/\/+(?=\?|$)/, '') }),
          },
        ];
      }),
    );
  }

  /** An empty variable counts as unset, as Compose files and CI systems write them. */
  private value(name: string): string | undefined {
    const value = this.environment[name]?.trim();
    return value === '' ? undefined : value;
  }
}

/** Keys that are JSON come as files of several lines. */
function inOneLine(key: string | undefined): string | undefined {
  if (!key?.startsWith('{')) return key;
  try {
    return JSON.stringify(JSON.parse(key));
  } catch {
    return key;
  }
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}

function isSendable(address: string): boolean {
  const { hash, username, password } = new URL(address);
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return hash === '' && !address.includes('#');
}
