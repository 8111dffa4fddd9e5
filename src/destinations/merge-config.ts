// A changed config, made from the stored one and from what a request sends of it. Source: contract 2.2; decisions 13.
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { maskConfig, parseConfig } from '../destination-kinds/destination-kind.js';
import type { BaseDestinationConfig, DestinationKind } from '../destination-kinds/destination-kind.js';
import type { DestinationConfig } from '../domain/destination.js';
import { validationFailure } from '../http/validation.pipe.js';

/**
 * What is not sent stays, and so does what is sent as records show it: masked. `headers` are replaced as a whole. Null
 * takes a member away. Throws `invalid_request` when the outcome is not a config of the kind.
 */
export async function mergeConfig(
  kind: DestinationKind,
  stored: DestinationConfig,
  sent: DestinationConfig,
): Promise<BaseDestinationConfig> {
  const known = { ...parseConfig(kind, stored) };
  const masked = maskConfig(kind, known);
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) delete merged[name];
    else if (name === 'headers') merged[name] = unmasked(value, masked[name], known.headers);
    else if (value !== masked[name]) merged[name] = value;
  }
  const config = plainToInstance(kind.configClass, merged);
  const problems = await validate(config, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  if (problems.length > 0) throw validationFailure([{ property: 'config', children: problems }]);
  return config;
}

/** The headers that were sent, with the stored value in the place of each that is still masked. */
function unmasked(sent: unknown, masked: unknown, stored: Readonly<Record<string, string>> = {}): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent;
  const shown = (masked ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]: [string, unknown]) => [
      name,
      value === shown[name] ? stored[name] : value,
    ]),
  );
}
