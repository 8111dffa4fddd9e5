// Rejects configs whose addresses the URL guard refuses.
import type { BaseDestinationConfig, ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import { AppError } from '../../domain/errors.js';
import type { UrlGuard } from '../../outbound/url-guard.js';

// An empty optional field yields an address without a host: there is nothing to check yet.
const NOTHING = /^(https?:)?\/*$/i;

/** An early check with a clear error; the check of every connection is the one that protects. */
export async function rejectForbiddenAddresses(
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
