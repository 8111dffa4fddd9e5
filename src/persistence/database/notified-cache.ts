// A bounded cache of what the database holds, which every change empties on every replica by notification as it commits.
import { LRUCache } from 'lru-cache';
import type { Notifications } from './notifications.js';

// Milliseconds. Notifications do the work; this bounds what a defect in their way could cost.
const TIME_TO_LIVE = 60_000;
/** What entries may be older. The cache would else read the clock and set a timer every millisecond in which it is asked. */
const TIME_TO_LIVE_RESOLUTION = 1_000;

export interface NotifiedCacheOptions {
  /** The channel that changes are told on. Its payload is the key of what changed, unless `forgets` says otherwise. */
  readonly channel: string;
  readonly forgets?: 'named' | 'all';
  readonly max: number;
}

export class NotifiedCache<Value extends object> {
  private readonly values: LRUCache<string, Value>;
  private isConnected = false;
  /** Raised by every change: a look-up that one overtook must not be kept. */
  private epoch = 0;

  constructor(
    private readonly notifications: Notifications,
    options: NotifiedCacheOptions,
    private readonly load: (key: string) => Promise<Value | null>,
  ) {
    this.values = new LRUCache({
      max: options.max,
      ttl: TIME_TO_LIVE,
      ttlResolution: TIME_TO_LIVE_RESOLUTION,
    });
    notifications.subscribe({
      channel: options.channel,
      onNotification: (payload) => {
        this.epoch++;
        if (options.forgets === 'all') this.values.clear();
        else this.values.delete(payload);
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

  /**
   * From memory, or loaded. What is not there is not kept: guesses must not push real entries out. Every call asks for
   * several, and an await makes a promise of what is none: it peeks first.
   */
  find(key: string): Value | Promise<Value | null> {
    return this.peek(key) ?? this.look(key);
  }

  /**
   * What find() would return from memory: nothing while notifications may be missing. Entries stay until the connection is
   * known to be lost; where it only was slow, it has delivered every notification by the time it is trusted again.
   */
  peek(key: string): Value | undefined {
    return this.notifications.isTrusted ? this.values.get(key) : undefined;
  }

  private async look(key: string): Promise<Value | null> {
    const { epoch } = this;
    const value = await this.load(key);
    if (value && this.isConnected && epoch === this.epoch) this.values.set(key, value);
    return value;
  }

  private forgetAll(): void {
    this.epoch++;
    this.values.clear();
  }
}
