// The contract of a destination kind, and what follows from it for every kind alike: reading a config and masking it.
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import {
  hiddenPartsOf,
  isAddressMask,
  isPasswordMask,
  isSecretMask,
  maskAddress,
  maskPassword,
  maskQuery,
  maskSecret,
} from '../../domain/text/masking.js';
import { HeadersField, RULES_OF_STORED, addressFieldsOf, secretFieldsOf } from './config-fields.js';
import type { AddressSecrecy } from './config-fields.js';
import type { KindDelivery } from './delivery.js';

/** What every kind's config class extends. */
export abstract class BaseDestinationConfig {
  /** Headers that requests of the kind have of their own, in small letters: custom ones of these names are refused. */
  static readonly ownHeaders: readonly string[] = ['content-type'];

  @HeadersField()
  headers?: Record<string, string>;
}

export interface DestinationKind<Config extends BaseDestinationConfig = BaseDestinationConfig> {
  /** The platform token, as clients send it. */
  readonly type: string;
  /** The neutral token of the interface description; null where the two are one. */
  readonly neutralType: string | null;
  /** The platform's name, for people. */
  readonly platform: string;
  readonly configClass: new () => Config;
  readonly delivery: KindDelivery<Config>;
  /** A config that is valid as it stands: for documentation and for the conformance suite. */
  readonly example: DestinationConfig;
}

/** A stored config that this version cannot read. Its message names fields, never their values. */
export class UnusableConfig extends Error {}

/** Reads a stored config with the kind's own class: an older row gets today's defaults or a clear error. */
export function parseConfig(kind: DestinationKind, stored: DestinationConfig): BaseDestinationConfig {
  const config = plainToInstance(kind.configClass, stored);
  const problems = validateSync(config, { whitelist: true, ...RULES_OF_STORED });
  if (problems.length > 0) {
    throw new UnusableConfig(
      `stored ${kind.type} config is invalid: ${problems.map((problem) => problem.property).join()}`,
    );
  }
  return config;
}

/** The config as responses show it: secret fields and all header values abbreviated, addresses without what is secret. */
export function maskConfig(kind: DestinationKind, config: DestinationConfig): DestinationConfig {
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

/** A config whose addresses may be stored in clear, its other secrets abbreviated already. */
export function maskAddresses(kind: DestinationKind, config: DestinationConfig): DestinationConfig {
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

/** The secret fields and the headers whose values have the form that maskConfig() shows them in. */
export function findMasks(kind: DestinationKind, config: object): FoundMasks {
  const fields: string[] = [];
  for (const [field, secrecy] of secretFieldsOf(kind.configClass)) {
    const value: unknown = Reflect.get(config, field);
    const isMask = secrecy === 'password' ? isPasswordMask : isSecretMask;
    if (typeof value === 'string' && isMask(value)) fields.push(field);
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

/** Every secret value of a config, for taking them out of texts. */
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

/** Where requests of a config go to: scheme, host and port. An address that is no URL counts as it is. */
export function originsOf(kind: DestinationKind, config: BaseDestinationConfig): ReadonlySet<string> {
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
