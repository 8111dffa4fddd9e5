// The config that a request sends, checked as it is stored.
import { isDeepStrictEqual } from 'node:util';
import type { BaseDestinationConfig, ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import type { UrlGuard } from '../../outbound/connections/url-guard.js';
import { mergeConfig, rejectMasks } from './merge-config.js';
import { AppError } from '../../domain/errors.js';

/** A new config. Throws `invalid_request`. */
export async function newConfig(
  guard: UrlGuard,
  kind: ConfigKind,
  sent: BaseDestinationConfig,
  accountId: string,
): Promise<DestinationConfig> {
  rejectMasks(kind, sent);
  await rejectForbiddenAddresses(guard, kind, sent, accountId);
  return { ...sent };
}

/**
 * A stored config after a change; undefined when it is unchanged, so that dependent steps are skipped. Throws
 * `invalid_request`.
 */
export async function changedConfig(
  guard: UrlGuard,
  kind: ConfigKind,
  { config: stored, accountId }: { readonly config: DestinationConfig; readonly accountId: string },
  sent: DestinationConfig,
): Promise<DestinationConfig | undefined> {
  const config = await mergeConfig(kind, stored, sent);
  await rejectForbiddenAddresses(guard, kind, config, accountId);
  return isDeepStrictEqual({ ...config }, stored) ? undefined : { ...config };
}

// An empty optional field yields an address without a host: there is nothing to check yet.
const NOTHING = /^(https?:)?\/*$/i;

/** An early check with a clear error; the check of every connection is the one that protects. */
async function rejectForbiddenAddresses(
  guard: UrlGuard,
  kind: ConfigKind,
  config: BaseDestinationConfig,
  accountId: string,
): Promise<void> {
  const addresses = kind.delivery.addresses(config).filter((address) => !NOTHING.test(address));
  const problems = await Promise.all(addresses.map((address) => guard.check(address, accountId)));
  const problem = problems.find((found) => found !== null);
  if (problem !== undefined) throw new AppError('invalid_request', { detail: `config: ${problem}` });
}
