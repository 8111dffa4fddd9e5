// Budgets and credits by workspace, from memory.
import { Injectable } from '@nestjs/common';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';
import { SpendTermsRepository } from '../persistence/spend/spend-policy.repository.js';
import type { SpendTerms } from '../persistence/spend/spend-policy.repository.js';

/** What is told on it: the id of the workspace or the account whose terms have changed. */
export const TERMS_CHANNEL = 'spend_terms_changed';

@Injectable()
export class SpendTermsCache extends NotifiedCache<SpendTerms> {
  constructor(repository: SpendTermsRepository, notifications: Notifications) {
    // An account's change concerns workspaces that it does not name, and is rare enough to forget them all.
    super(notifications, { channel: TERMS_CHANNEL, forgets: 'all', max: 20_000 }, (workspaceId) =>
      repository.find(workspaceId),
    );
  }
}
