// The comparison that finds changes whose notification is lost.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TestClock } from '../../test/support/app/clock.js';
import type { StoredEntry } from '../catalogue/stored-entry.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { Metrics } from '../config/metrics.js';
import type { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import type { Notifications } from '../persistence/database/notifications.js';
import { CatalogueSource } from './catalogue-source.js';
import { StoredCatalogue } from './stored-catalogue.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
});
afterEach(() => {
  jest.useRealTimers();
});

it('reads a change whose notification is lost 30 s after the last comparison (G5)', async () => {
  const stored: StoredEntry[] = [];
  const revisions = {
    changedAfter: (version: number) =>
      Promise.resolve({ version: stored.length, entries: stored.filter((entry) => entry.version > version) }),
  } as unknown as CatalogueRevisionsRepository;
  const replicas = [true, true, false].map((isNotified) => {
    const source = new CatalogueSource(undefined, new TestClock());
    let notify = (): void => undefined;
    const notifications = {
      subscribe: (subscription: { readonly onNotification: () => void }) => {
        if (isNotified) notify = subscription.onNotification;
      },
    } as unknown as Notifications;
    const catalogue = new StoredCatalogue(revisions, source, new YieldQueue(), notifications, new Metrics());
    return { source, catalogue, notify: () => notify() };
  });
  for (const { catalogue } of replicas) await catalogue.onApplicationBootstrap();
  stored.push({
    kind: 'chat_models',
    id: 'openai/gpt-4o',
    version: 1,
    documents: { operator: { id: 'openai/gpt-4o', name: 'Changed' } },
  });
  for (const { notify } of replicas) notify();
  const namesNow = (): (string | undefined)[] =>
    replicas.map(({ source }) => source.chatCatalogue.find('openai/gpt-4o')?.model.name);
  await jest.advanceTimersByTimeAsync(29_999);
  expect(namesNow()).toEqual(['Changed', 'Changed', 'OpenAI: GPT-4o']);
  await jest.advanceTimersByTimeAsync(1);
  // Each waits for the run in progress.
  for (const { catalogue } of replicas) await catalogue.onApplicationShutdown();
  expect(namesNow()).toEqual(['Changed', 'Changed', 'Changed']);
});
