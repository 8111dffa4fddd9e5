// A bounded cache of database rows. Every change evicts its entry on every replica, by a notification at commit.
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import type { Notifications } from './notifications.js';

// Milliseconds. Notifications invalidate entries; this bounds the effect of a missed one.
const TIME_TO_LIVE = 60_000;
/**
 * Milliseconds that an entry may be older. Without it the cache would read the clock and set a timer in every
 * millisecond of use.
 */
const TIME_TO_LIVE_RESOLUTION = 1_000;

export interface NotifiedCacheOptions {
  /** The channel of the changes. The payload is the key of the changed entry. */
  readonly channel: string;
  /** The channel of rare changes that concern entries which they do not name: they evict all. */
  readonly clearedBy?: string;
  readonly max: number;
}

export class NotifiedCache<Value extends object> {
  private readonly values: LRUCache<string, Value>;
  private isConnected = false;
  /** By key: the look-ups in flight that no change has made stale. The result of a stale one is not cached. */
  private readonly fresh = new Map<string, object>();

  constructor(
    private readonly notifications: Notifications,
    options: NotifiedCacheOptions,
    private readonly load: (key: string) => Promise<Value | null>,
  ) {
    this.values = new LRUCache({
      ...capacityFor(options.max),
      ttl: TIME_TO_LIVE,
      ttlResolution: TIME_TO_LIVE_RESOLUTION,
    });
    notifications.subscribe({
      channel: options.channel,
      // It evicts one entry alone: no tenant may empty the cache of the others.
      onNotification: (payload) => {
        this.fresh.delete(payload);
        this.values.delete(payload);
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
    if (options.clearedBy !== undefined)
      notifications.subscribe({ channel: options.clearedBy, onNotification: () => this.forgetAll() });
  }

  /**
   * From memory, or loaded while notifications may be missing. A missing row is not cached: guesses must not evict real
   * entries. Entries stay until the connection is known to be lost. A connection that was only slow has delivered every
   * notification before it is trusted again.
   */
  async find(key: string): Promise<Value | null> {
    return (this.notifications.isTrusted ? this.values.get(key) : undefined) ?? this.look(key);
  }

  private async look(key: string): Promise<Value | null> {
    // Look-ups at the same time share it: a change makes all of them stale.
    const lookUp = this.fresh.get(key) ?? {};
    this.fresh.set(key, lookUp);
    try {
      const value = await this.load(key);
      if (value && this.isConnected && this.fresh.get(key) === lookUp) this.values.set(key, value);
      return value;
    } finally {
      if (this.fresh.get(key) === lookUp) this.fresh.delete(key);
    }
  }

  private forgetAll(): void {
    this.fresh.clear();
    this.values.clear();
  }
}
