// A spend limiter without a database, for specs of its use of granted money.
import type { AppConfig } from '../../../src/config/app-config.js';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import type { SpendBound } from '../../../src/domain/spend/spend-limit.js';
import type { NotificationListener, Notifications } from '../../../src/persistence/database/notifications.js';
import type { SpendLedger } from '../../../src/persistence/spend/spend-ledger.js';
import type {
  SpendPolicy,
  SpendPolicyRepository,
} from '../../../src/persistence/spend/spend-policy.repository.js';
import { ReachedLimits } from '../../../src/spend/reached-limits.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import { UnpaidLimit } from '../../../src/spend/unpaid-limit.js';
import type { SpendPolicyCache } from '../../../src/spend/spend-policy-cache.js';
import { TestClock } from '../app/clock.js';

// Owners of these specs have one limit each, so that no spend is looked up.
const NO_REPOSITORY = {} as Partial<SpendPolicyRepository> as SpendPolicyRepository;

export const MAX_UNPAID = 5n;

export interface LimiterSetup {
  readonly limiter: SpendLimiter;
  /** Sets the policies in the cache. */
  setPolicy(policies: SpendPolicy): void;
  /** As the database would. */
  notify(channel: string, payload: string): void;
  /** Simulates the loss and recovery of the notification connection. */
  reconnect(): void;
}

export function createSpendLimiter(ledger: Pick<SpendLedger, keyof SpendLedger>): LimiterSetup {
  const listeners: NotificationListener[] = [];
  let held: SpendPolicy = { budgets: [], credits: null };
  const policies: Partial<SpendPolicyCache> = { find: () => Promise.resolve(held) };
  const notifications = {
    subscribe: (listener) => void listeners.push(listener),
  } as Partial<Notifications>;
  return {
    limiter: new SpendLimiter(
      ledger as SpendLedger,
      policies as SpendPolicyCache,
      new ReachedLimits(NO_REPOSITORY, new TestClock()),
      new UnpaidLimit({ maxUnpaid: MAX_UNPAID } as AppConfig, new TestClock()),
      notifications as Notifications,
    ),
    setPolicy: (changed) => {
      held = changed;
    },
    notify: (channel, payload) => {
      for (const listener of listeners) if (listener.channel === channel) listener.onNotification(payload);
    },
    reconnect: () => {
      for (const listener of listeners) listener.onConnected?.();
    },
  };
}

/** As the cache of callers holds it: every look-up makes another. */
export function keyWithLimit(limit: bigint | null): ApiKey {
  return {
    id: 'key-1',
    workspaceId: 'workspace-1',
    accountId: 'account-1',
    limit,
    limitReset: null,
    includeByokInLimit: false,
  } as Partial<ApiKey> as ApiKey;
}

export const boundOf = (cost: bigint): SpendBound => ({ cost, costWithByok: cost });
