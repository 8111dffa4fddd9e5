// Callers by the hash of their secret, so that the request path asks the database once per key and change. Bounded;
// every change of a key reaches every replica by notification as it commits.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../domain/api-key.js';
import { ApiKeysRepository } from '../persistence/api-keys.repository.js';
import { Notifications } from '../persistence/notifications.js';

const MAX_CALLERS = 20_000;
// Milliseconds. Notifications do the work; this bounds what a defect in their way could cost.
const TIME_TO_LIVE = 60_000;

@Injectable()
export class CallerCache {
  // Keyed by digests, so that the time of a look-up says nothing about a secret.
  private readonly callers = new LRUCache<string, Caller>({ max: MAX_CALLERS, ttl: TIME_TO_LIVE });
  private isConnected = false;
  /** Raised by every invalidation: a look-up that one overtook must not be kept. */
  private epoch = 0;

  constructor(
    private readonly apiKeys: ApiKeysRepository,
    notifications: Notifications,
  ) {
    notifications.subscribe({
      channel: 'api_key_changed',
      onNotification: (secretHash) => {
        this.epoch++;
        this.callers.delete(secretHash);
      },
      onDisconnected: () => {
        this.isConnected = false;
        this.forgetAll();
      },
      onConnected: () => {
        this.forgetAll();
        this.isConnected = true;
      },
    });
  }

  /** Null when no key has this secret. Unknown secrets are not kept: guesses must not push real keys out. */
  async find(secretHash: string): Promise<Caller | null> {
    const known = this.callers.get(secretHash);
    if (known) return known;
    const epoch = this.epoch;
    const caller = await this.apiKeys.findCaller(secretHash);
    if (caller && this.isConnected && epoch === this.epoch) this.callers.set(secretHash, caller);
    return caller;
  }

  /** Whether find() would answer from memory. */
  has(secretHash: string): boolean {
    return this.callers.has(secretHash);
  }

  private forgetAll(): void {
    this.epoch++;
    this.callers.clear();
  }
}
