// The costs of a stored catalogue of many models in a process: its first load, look-ups, and the list of all models.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { YieldQueue } from '../../../src/concurrency/yield-queue.js';
import { Metrics } from '../../../src/config/metrics.js';
import { CatalogueRevisionsRepository } from '../../../src/persistence/catalogue/catalogue-revisions.repository.js';
import type { Notifications } from '../../../src/persistence/database/notifications.js';
import { CatalogueSource } from '../../../src/routing/catalogue-source.js';
import { StoredCatalogue } from '../../../src/routing/stored-catalogue.js';
import { createTestApp } from '../app/app.js';
import { TestClock } from '../app/clock.js';
import { retainedMemory } from '../memory.js';

const MIB = 2 ** 20;
const NANOSECONDS = 1e6;
const LOOK_UPS = 50_000;
const LISTS = 10;

export interface GrowthFigures {
  readonly models: number;
  /** MiB that stay. */
  readonly memory: number;
  /** Milliseconds of the first load, and the longest time that it held the event loop up. */
  readonly load: number;
  readonly blocked: number;
  /** Microseconds of processor time. */
  readonly lookUp: number;
  /** Milliseconds of the first list after a change, and of those from the buffer. */
  readonly firstList: number;
  readonly list: number;
  /** Models in the list. */
  readonly listed: number;
}

const idOf = (number: number): string => `acme/model-${number}`;

/** Each with four endpoints. */
const INSERT = `
INSERT INTO catalogue_revisions (version, scope, rank, kind, entry_id, document, actor, created_at)
SELECT number, 'operator', 'operator', 'chat_models', 'acme/model-' || number, jsonb_build_object(
  'id', 'acme/model-' || number, 'created_at', '2026-01-01', 'context_length', 100000,
  'endpoints', (
    SELECT jsonb_agg(jsonb_build_object(
      'provider', 'openai', 'tag', 'openai/' || endpoint, 'upstream_model', 'model-' || number,
      'prices', jsonb_build_array(jsonb_build_object(
        'effective_from', '2026-01-01', 'source', 'a test',
        'usd_per_million_tokens', jsonb_build_object('prompt', 1, 'completion', 2, 'cache_read', 0.1)
      ))
    )) FROM generate_series(1, 4) AS endpoint
  )
), 'a test', now() FROM generate_series(1, $1::int) AS number`;

export async function growthOf(models: number): Promise<GrowthFigures> {
  const app = await createTestApp({
    environment: { OPENAI_API_KEY: 'key', RATE_LIMIT_PUBLIC_PER_MINUTE: '0' },
  });
  try {
    // The process of the test has one event loop: the app loads them later.
    await app.sql('ALTER TABLE catalogue_revisions DISABLE TRIGGER catalogue_changed');
    await app.sql(INSERT, [models]);
    const source = new CatalogueSource(undefined, new TestClock());
    const silent = { subscribe: () => undefined } as unknown as Notifications;
    const revisions = app.application.get(CatalogueRevisionsRepository);
    const stored = new StoredCatalogue(revisions, source, new YieldQueue(), silent, new Metrics());
    const before = retainedMemory();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const startedAt = performance.now();
    await stored.load();
    const load = performance.now() - startedAt;
    delay.disable();
    const memory = (retainedMemory() - before) / MIB;
    const { user } = process.cpuUsage();
    for (let index = 0; index < LOOK_UPS; index++)
      if (!source.chatCatalogue.find(idOf((index % models) + 1))) throw new Error(`no ${idOf(index)}`);
    const lookUp = (process.cpuUsage().user - user) / LOOK_UPS;
    const list = async () => {
      const at = performance.now();
      const response = await app.http.get('/api/v1/models');
      const { total_count: count } = response.body as { total_count: number };
      return { time: performance.now() - at, count };
    };
    await app.application.get(StoredCatalogue).load();
    const first = await list();
    const times: number[] = [];
    for (let index = 0; index < LISTS; index++) times.push((await list()).time);
    times.sort((one, other) => one - other);
    return {
      models,
      memory,
      load,
      blocked: delay.max / NANOSECONDS,
      lookUp,
      firstList: first.time,
      list: times[LISTS / 2] ?? 0,
      listed: first.count,
    };
  } finally {
    await app.close();
  }
}
