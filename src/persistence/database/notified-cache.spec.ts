import { beforeEach, describe, expect, it } from '@jest/globals';
import { NotifiedCache } from './notified-cache.js';
import type { NotificationListener, Notifications } from './notifications.js';

interface Entry {
  readonly version: number;
}

let listeners: NotificationListener[];
let loads: string[];
let pending: (() => void)[];
let cache: NotifiedCache<Entry>;

beforeEach(() => {
  listeners = [];
  loads = [];
  pending = [];
  const notifications = {
    isTrusted: true,
    subscribe: (listener) => void listeners.push(listener),
  } as Partial<Notifications>;
  cache = new NotifiedCache(
    notifications as Notifications,
    { channel: 'entry_changed', clearedBy: 'owner_changed', max: 100 },
    async (key) => {
      loads.push(key);
      const version = loads.length;
      await new Promise<void>((resolve) => pending.push(resolve));
      return { version };
    },
  );
  for (const listener of listeners) listener.onConnected?.();
});

const notify = (channel: string, payload: string): void => {
  for (const listener of listeners) if (listener.channel === channel) listener.onNotification(payload);
};
async function load(key: string): Promise<Entry | null> {
  const found = cache.find(key);
  for (const resolve of pending.splice(0)) resolve();
  return found;
}

describe('a notified cache', () => {
  it('loads an entry once, until its own change', async () => {
    await load('mine');
    await load('other');
    notify('entry_changed', 'mine');
    expect(await load('other')).toEqual({ version: 2 });
    expect(await load('mine')).toEqual({ version: 3 });
    expect(loads).toEqual(['mine', 'other', 'mine']);
  });

  it('keeps a look-up in flight during the change of another entry, and drops one of the entry', async () => {
    const stale = cache.find('mine');
    const kept = cache.find('other');
    notify('entry_changed', 'mine');
    for (const resolve of pending.splice(0)) resolve();
    expect(await stale).toEqual({ version: 1 });
    await kept;
    expect(await load('mine')).toEqual({ version: 3 });
    expect(await load('other')).toEqual({ version: 2 });
  });

  it('drops a stale look-up that ends after a fresh one', async () => {
    const stale = cache.find('mine');
    const [endStale] = pending.splice(0);
    notify('entry_changed', 'mine');
    await load('mine');
    endStale?.();
    await stale;
    expect(await load('mine')).toEqual({ version: 2 });
  });

  it('is emptied by a change of what its entries share, and by the loss of the connection', async () => {
    for (const forget of [() => notify('owner_changed', 'owner'), () => listeners[0]?.onDisconnected?.()]) {
      const held = await load('mine');
      expect(await load('mine')).toBe(held);
      const stale = cache.find('other');
      forget();
      for (const resolve of pending.splice(0)) resolve();
      await stale;
      loads.length = 0;
      await Promise.all([load('mine'), load('other')]);
      expect(loads).toEqual(['mine', 'other']);
    }
  });
});
