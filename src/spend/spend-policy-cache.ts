// Budgets and credits by workspace, from memory.
import { Injectable } from '@nestjs/common';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';
import { SpendPolicyRepository } from '../persistence/spend/spend-policy.repository.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

/** What is told on it: the id of the workspace or the account whose terms have changed. */
export const SPEND_POLICY_CHANNEL = 'spend_terms_changed';

@Injectable()
export class SpendPolicyCache extends NotifiedCache<SpendPolicy> {
  constructor(repository: SpendPolicyRepository, notifications: Notifications) {
    // An account's change concerns workspaces that it does not name, and is rare enough to forget them all.
    super(notifications, { channel: SPEND_POLICY_CHANNEL, forgets: 'all', max: 20_000 }, (workspaceId) =>
      repository.find(workspaceId),
    );
  }
}
