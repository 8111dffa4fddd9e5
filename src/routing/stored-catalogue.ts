// Keeps the catalogue of this process at the newest stored revision: a notification announces each, and a comparison finds those
// whose notification is lost.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import type { ReadEntry, RowsChange } from '../catalogue/layered-catalogue.js';
import type { StoredEntry } from '../catalogue/stored-entry.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { Metrics } from '../config/metrics.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { Notifications } from '../persistence/database/notifications.js';
import { CatalogueSource } from './catalogue-source.js';

const CHANNEL = 'catalogue_changed';
// Milliseconds between comparisons, and between attempts of the first load.
const COMPARISON_INTERVAL = 30_000;
const RETRY_INTERVAL = 1_000;
// The name under which reading takes turns with the work of accounts.
const WORK = 'catalogue';

@Injectable()
export class StoredCatalogue implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Catalogue');
  private readonly comparison = new RepeatedTask(async () => {
    await this.loadQuietly();
    return this.isLoaded ? COMPARISON_INTERVAL : RETRY_INTERVAL;
  });
  private isLoaded = false;
  private loading: Promise<void> = Promise.resolve();
  private nextLoad: Promise<void> | null = null;
  private readonly stale;
  private readonly version;

  constructor(
    private readonly revisions: CatalogueRevisionsRepository,
    private readonly source: CatalogueSource,
    private readonly yieldQueue: YieldQueue,
    notifications: Notifications,
    { registry }: Metrics,
  ) {
    const load = (): void => void this.loadQuietly();
    notifications.subscribe({ channel: CHANNEL, onNotification: load, onConnected: load });
    const registers = [registry];
    this.stale = new Gauge({
      name: 'signalbox_catalogue_stale',
      help: '1: this process has not applied a stored revision of the catalogue; GET /system says which and why.',
      aggregator: 'max',
      registers,
    });
    this.version = new Gauge({
      name: 'signalbox_catalogue_version',
      help: 'Newest stored revision of the catalogue that this process has applied; of several workers, the lowest.',
      aggregator: 'min',
      registers,
    });
  }

  /** A start without a database waits for it: until the rows are known, calls are rejected. */
  async onApplicationBootstrap(): Promise<void> {
    await this.loadQuietly();
    if (!this.isLoaded) this.source.serve(false);
    this.comparison.start(this.isLoaded ? COMPARISON_INTERVAL : RETRY_INTERVAL);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.comparison.stop();
    await this.loading;
  }

  /** Resolves when every revision that is committed now is applied. */
  load(): Promise<void> {
    // A load that has not begun yet serves all callers until then.
    this.nextLoad ??= this.loading.then(() => {
      this.nextLoad = null;
      const load = this.loadNewer();
      this.loading = load.catch(() => undefined);
      return load;
    });
    return this.nextLoad;
  }

  /** The entries as this process would read them together, each with its problem. Nothing changes. */
  async tryEntries(entries: readonly StoredEntry[]): Promise<readonly ReadEntry[]> {
    return (await this.plan(this.source.layers.version, entries)).entries;
  }

  private async loadQuietly(): Promise<void> {
    await this.load().catch((error: unknown) => {
      this.logger.warn({ error }, 'failed to load the stored catalogue; will retry');
    });
  }

  private async loadNewer(): Promise<void> {
    const changed = new Map<string, StoredEntry>();
    const note = (entries: readonly StoredEntry[]): void => {
      for (const entry of entries) changed.set(`${entry.kind} ${entry.id}`, entry);
    };
    const { layers } = this.source;
    // Another change, or the operator's file, may have solved their problem.
    if (layers.problems.length > 0) note(await this.revisions.layersOf(layers.problems));
    let { version } = layers;
    for (;;) {
      const page = await this.revisions.changedAfter(version);
      note(page.entries);
      if (page.version === version) break;
      version = page.version;
      // No call is served before the end of the first load: steps of a page each hold the process up for milliseconds.
      if (this.isLoaded) continue;
      this.source.apply(await this.plan(version, [...changed.values()]));
      changed.clear();
    }
    // An entry of a later page may have taken the name that a problem is about.
    if (!this.isLoaded && layers.problems.length > 0) note(await this.revisions.layersOf(layers.problems));
    if (version !== layers.version || changed.size > 0) {
      this.stale.set(1);
      this.source.apply(await this.plan(version, [...changed.values()]));
    }
    this.stale.set(layers.problems.length > 0 ? 1 : 0);
    this.version.set(version);
    this.isLoaded = true;
    this.source.serve(true);
  }

  private async plan(version: number, entries: readonly StoredEntry[]): Promise<RowsChange> {
    const { layers } = this.source;
    return layers.plan(version, await this.yieldQueue.begin(WORK).run(layers.read(entries)));
  }
}
