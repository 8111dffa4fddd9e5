// Merges a PATCH into a stored config (docs/contract.md#destinations, docs/contract.md#masking).
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import type { ValidationError } from 'class-validator';
import { secretFieldsOf } from '../../destination-kinds/shared/config-fields.js';
import {
  findMasks,
  maskConfig,
  originsOf,
  parseConfig,
} from '../../destination-kinds/shared/destination-kind.js';
import type { BaseDestinationConfig, ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import { AppError } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';
import { MASK_RULE } from '../../domain/text/masking.js';
import { validationFailure } from '../fields/validation.pipe.js';
import { configClassOf } from './config-class.js';

/**
 * Omitted members and masked values as in records stay unchanged. `headers` are replaced as a whole. Null removes a
 * member.
 * Throws `invalid_request` when the result is not a config of the kind, when a mask is not the current one, and when
 * a stored secret would go to another host.
 */
export async function mergeConfig(
  kind: ConfigKind,
  stored: DestinationConfig,
  sent: DestinationConfig,
): Promise<BaseDestinationConfig> {
  const current = parseConfig(kind, stored);
  const known = { ...current };
  const masked = maskConfig(kind, known);
  const { headers, ...members } = sent;
  const changed = Object.fromEntries(
    Object.entries(members).filter(([name, value]) => value !== masked[name]),
  );
  const kept = keptHeaders(headers, known.headers, masked['headers']);
  rejectMasks(kind, { ...changed, headers: without(headers, kept) });
  const merged: Record<string, unknown> = { ...known, ...changed };
  if (headers !== undefined) merged['headers'] = isObject(headers) ? { ...headers, ...kept } : headers;
  for (const [name, value] of Object.entries(merged)) if (value === null) delete merged[name];
  const config = plainToInstance(configClassOf(kind), merged);
  const problems = await validate(config, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  if (problems.length > 0) throw validationFailure([{ property: 'config', children: problems }]);
  const origins = originsOf(kind, current);
  if ([...originsOf(kind, config)].some((origin) => !origins.has(origin))) {
    const fields = [...secretFieldsOf(kind.configClass).keys()];
    rejectStoredSecrets(
      fields.filter((name) => !Object.hasOwn(changed, name) && Reflect.get(config, name)),
      Object.keys((headers === undefined ? known.headers : kept) ?? {}),
    );
  }
  return config;
}

// Header names that an error lists.
const MAX_LISTED = 20;

/**
 * No response shows a secret, but every delivery sends it. With a new host alone, the holder of a management key
 * could read it at a receiver of its own.
 */
function rejectStoredSecrets(fields: readonly string[], headers: readonly string[]): void {
  const names = [...fields, ...headers.slice(0, MAX_LISTED).map((name) => `headers.${name}`)];
  if (names.length === 0) return;
  const rest = headers.length > MAX_LISTED ? ` and ${headers.length - MAX_LISTED} more headers` : '';
  throw new AppError('invalid_request', {
    detail: `config: the change moves the destination to another host; send its secrets again: ${names.join(', ')}${rest}`,
  });
}

/** The stored values of the headers that were sent masked, in any spelling of their names. */
function keptHeaders(
  sent: unknown,
  stored: Readonly<Record<string, string>> = {},
  masked: unknown,
): Readonly<Record<string, string>> {
  if (!isObject(sent) || !isObject(masked)) return {};
  const spellings = new Map(Object.keys(stored).map((name) => [name.toLowerCase(), name]));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    const spelling = Object.hasOwn(stored, name) ? name : (spellings.get(name.toLowerCase()) ?? name);
    const known = stored[spelling];
    if (known !== undefined && value === masked[spelling]) kept[name] = known;
  }
  return kept;
}

function without(headers: unknown, kept: Readonly<Record<string, string>>): unknown {
  if (!isObject(headers)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !Object.hasOwn(kept, name)));
}

/**
 * Throws `invalid_request`, naming the members of `sent` whose values have the form of a mask: a config contains them when
 * it was read before the secret changed, or belongs to another destination.
 */
export function rejectMasks(kind: ConfigKind, sent: object): void {
  const { fields, headers } = findMasks(kind, sent);
  const problems = [
    ...fields.map(toProblem),
    ...(headers.length === 0 ? [] : [{ property: 'headers', children: headers.map(toProblem) }]),
  ];
  if (problems.length > 0) throw validationFailure([{ property: 'config', children: problems }]);
}

function toProblem(property: string): ValidationError {
  return { property, constraints: { mask: MASK_RULE } };
}
