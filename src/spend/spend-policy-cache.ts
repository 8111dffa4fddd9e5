// Budgets and credits by workspace, cached.
import { Injectable } from '@nestjs/common';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';
import { SpendPolicyRepository } from '../persistence/spend/spend-policy.repository.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

/** The payload is the id of the workspace or account whose policy has changed. */
export const SPEND_POLICY_CHANNEL = 'spend_terms_changed';

@Injectable()
export class SpendPolicyCache extends NotifiedCache<SpendPolicy> {
  constructor(repository: SpendPolicyRepository, notifications: Notifications) {
    // An account's change concerns workspaces that it does not name; it is rare enough to evict all of them.
    super(notifications, { channel: SPEND_POLICY_CHANNEL, forgets: 'all', max: 20_000 }, (workspaceId) =>
      repository.find(workspaceId),
    );
  }
}
