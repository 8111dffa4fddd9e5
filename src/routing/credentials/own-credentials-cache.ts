// The provider credentials of workspaces, cached. A change or revocation evicts them on every replica at once.
import { Injectable } from '@nestjs/common';
import type { ProviderCredential } from '../../domain/providers/provider-credential.js';
import { NotifiedCache } from '../../persistence/database/notified-cache.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { ProviderCredentialsRepository } from '../../persistence/keys/provider-credentials.repository.js';

@Injectable()
export class OwnCredentialsCache extends NotifiedCache<readonly ProviderCredential[]> {
  constructor(repository: ProviderCredentialsRepository, notifications: Notifications) {
    super(notifications, { channel: 'provider_credential_changed', max: 20_000 }, (workspaceId) =>
      repository.listForWorkspace(workspaceId),
    );
  }
}
