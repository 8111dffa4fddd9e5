// The contract of a destination kind, with the reading and masking of configs that all kinds share.
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import {
  hiddenPartsOf,
  isAddressMask,
  isSecretMask,
  maskAddress,
  maskPassword,
  maskQuery,
  maskSecret,
} from '../../domain/text/masking.js';
import { HeadersField, addressFieldsOf, fieldProblem, fieldsOf, secretFieldsOf } from './config-fields.js';
import type { AddressSecrecy } from './config-fields.js';
import type { KindDelivery } from './delivery.js';

/** The base of every kind's config class. */
export abstract class BaseDestinationConfig {
  /** Lower-case headers that the kind sets itself: custom headers of these names are refused. */
  static readonly ownHeaders: readonly string[] = ['content-type'];

  @HeadersField()
  headers?: Record<string, string>;
}

export interface DestinationKind<Config extends BaseDestinationConfig = BaseDestinationConfig> {
  /** The platform token that clients send. */
  readonly type: string;
  /** The neutral token (docs/contract.md#destination-kinds); null when the kind has none. */
  readonly neutralType: string | null;
  /** The platform's display name. */
  readonly platform: string;
  readonly configClass: new () => Config;
  readonly delivery: KindDelivery<Config>;
  /** A valid config, for documentation and for the conformance suite. */
  readonly example: DestinationConfig;
}

/** The part of a kind that its configs need. */
export interface ConfigKind {
  readonly type: string;
  readonly configClass: new () => BaseDestinationConfig;
  readonly delivery: Pick<KindDelivery<BaseDestinationConfig>, 'addresses'>;
}

/** A stored config that this version cannot read. Its message names fields, never their values. */
export class UnusableConfig extends Error {}

/** Reads a stored config with the kind's class: an older row gets today's defaults or a clear error. */
export function parseConfig(kind: ConfigKind, stored: DestinationConfig): BaseDestinationConfig {
  const config = new kind.configClass();
  const fields = fieldsOf(kind.configClass);
  for (const { name } of fields) if (Object.hasOwn(stored, name)) Reflect.set(config, name, stored[name]);
  const unusable = fields.filter((field) => fieldProblem(field, config, 'stored') !== null);
  if (unusable.length > 0) {
    const names = unusable.map(({ name }) => name).join();
    throw new UnusableConfig(`stored ${kind.type} config is invalid: ${names}`);
  }
  return config;
}

/** The config for responses: secret fields and header values abbreviated, addresses without their secret parts. */
export function maskConfig(kind: ConfigKind, config: DestinationConfig): DestinationConfig {
  const masked: Record<string, unknown> = { ...config };
  for (const [field, secrecy] of secretFieldsOf(kind.configClass)) {
    const value = masked[field];
    if (typeof value === 'string')
      masked[field] = secrecy === 'password' ? maskPassword() : maskSecret(value);
  }
  if (typeof config['headers'] === 'object' && config['headers'] !== null) {
    masked['headers'] = Object.fromEntries(
      Object.entries(config['headers']).map(([name, value]) => [name, maskSecret(String(value))]),
    );
  }
  return maskAddresses(kind, masked);
}

/** Masks the addresses of a config whose other secrets are already abbreviated. */
export function maskAddresses(kind: ConfigKind, config: DestinationConfig): DestinationConfig {
  const masked: Record<string, unknown> = { ...config };
  for (const [field, secrecy] of addressFieldsOf(kind.configClass)) {
    const value = masked[field];
    if (typeof value === 'string') masked[field] = shownAddress(kind.configClass, field, secrecy, value);
  }
  return masked;
}

export interface FoundMasks {
  readonly fields: readonly string[];
  readonly headers: readonly string[];
}

/** The secret fields and headers whose values look like masks of maskConfig(). */
export function findMasks(kind: ConfigKind, config: object): FoundMasks {
  const fields: string[] = [];
  for (const field of secretFieldsOf(kind.configClass).keys()) {
    const value: unknown = Reflect.get(config, field);
    if (typeof value === 'string' && isSecretMask(value)) fields.push(field);
  }
  for (const field of addressFieldsOf(kind.configClass).keys()) {
    const value: unknown = Reflect.get(config, field);
    if (typeof value === 'string' && isAddressMask(value)) fields.push(field);
  }
  const headers: unknown = Reflect.get(config, 'headers');
  const values: [string, unknown][] =
    typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  const masked = values.filter(([, value]) => typeof value === 'string' && isSecretMask(value));
  return { fields, headers: masked.map(([name]) => name) };
}

/** All secret values of a config, for removal from texts. */
export function secretsOf(config: BaseDestinationConfig): readonly string[] {
  const secrets = Object.values(config.headers ?? {});
  for (const [field] of secretFieldsOf(config.constructor)) {
    const value: unknown = Reflect.get(config, field);
    if (typeof value === 'string') secrets.push(value);
  }
  const configClass = config.constructor as new () => BaseDestinationConfig;
  for (const [field, secrecy] of addressFieldsOf(configClass)) {
    const value: unknown = Reflect.get(config, field);
    if (typeof value !== 'string' || shownAddress(configClass, field, secrecy, value) === value) continue;
    secrets.push(...hiddenPartsOf(value, secrecy === 'secret'));
  }
  return secrets;
}

/** The origins of a config's requests: scheme, host and port. Text that is not a URL is its own origin. */
export function originsOf(kind: ConfigKind, config: BaseDestinationConfig): ReadonlySet<string> {
  const addresses = kind.delivery.addresses(config);
  return new Set(addresses.map((address) => (URL.canParse(address) ? new URL(address).origin : address)));
}

function shownAddress(
  configClass: new () => BaseDestinationConfig,
  field: string,
  secrecy: AddressSecrecy,
  address: string,
): string {
  if (Reflect.get(new configClass(), field) === address) return address;
  return secrecy === 'secret' ? maskAddress(address) : maskQuery(address);
}
