// Callers by the hash of their secret, so that the request path queries the database once per key and change. The
// cache is keyed by digests: the time of a look-up reveals nothing about a secret.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';

@Injectable()
export class CallerCache extends NotifiedCache<Caller> {
  constructor(apiKeys: ApiKeysRepository, notifications: Notifications) {
    super(notifications, { channel: 'api_key_changed', max: 20_000 }, (secretHash) =>
      apiKeys.findCaller(secretHash),
    );
  }
}
