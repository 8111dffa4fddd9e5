// Budgets and credits by workspace, cached.
import { Injectable } from '@nestjs/common';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';
import { SpendPolicyRepository } from '../persistence/spend/spend-policy.repository.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

/** The payload is the id of the workspace or account whose policy has changed. */
export const SPEND_POLICY_CHANNEL = 'spend_terms_changed';
/** The payload is the id of the account. The operator alone changes credits. */
const ACCOUNT_CREDITS_CHANNEL = 'account_credits_changed';

@Injectable()
export class SpendPolicyCache extends NotifiedCache<SpendPolicy> {
  constructor(repository: SpendPolicyRepository, notifications: Notifications) {
    const channels = { channel: SPEND_POLICY_CHANNEL, clearedBy: ACCOUNT_CREDITS_CHANNEL };
    super(notifications, { ...channels, max: 20_000 }, (workspaceId) => repository.find(workspaceId));
  }
}
