// The config that a request sends, checked as it is stored.
import { isDeepStrictEqual } from 'node:util';
import type { BaseDestinationConfig, ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import type { UrlGuard } from '../../outbound/url-guard.js';
import { rejectForbiddenAddresses } from './forbidden-addresses.js';
import { mergeConfig } from './merge-config.js';
import { rejectMasks } from './reject-masks.js';

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
