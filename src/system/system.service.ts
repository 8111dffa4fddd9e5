// The state of the service: version, migrations, processes, deliveries, cache, encryption.
import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../config/metrics.js';
import { Clock } from '../domain/clock.js';
import { MAX_DELIVERY_AGE } from '../domain/destinations/delivery.js';
import type { Manager } from '../domain/people/manager.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { Readiness } from '../persistence/database/readiness.js';
import type { Migrations } from '../persistence/database/readiness.js';
import { SystemStateRepository } from '../persistence/database/system-state.repository.js';
import type { AccountBacklog, KeyUse, SystemState } from '../persistence/database/system-state.repository.js';
import { LogHorizonReader } from '../persistence/generations/log-horizon.js';
import type { LogHorizon } from '../persistence/generations/log-horizon.js';
import { CatalogueSource } from '../routing/catalogue-source.js';
import type { CatalogueState } from '../routing/catalogue-source.js';
import { EndpointReports } from '../routing/endpoint-reports.js';
import type { WrongAddress } from '../routing/endpoint-reports.js';

const PACKAGE = new URL('../../package.json', import.meta.url);
const CACHE_COUNTER = 'signalbox_embedding_cache_inputs_total';

export interface System extends SystemState {
  readonly version: string;
  readonly startedAt: Date;
  readonly workers: number;
  readonly hasDeliveryProcess: boolean;
  readonly sharesRateLimits: boolean;
  readonly migrations: Migrations;
  readonly backlog: AccountBacklog;
  readonly horizon: LogHorizon;
  readonly cache: {
    readonly bytes: number;
    readonly seconds: number;
    readonly hits: number;
    readonly misses: number;
  };
  readonly encryptionKeyIds: readonly string[];
  readonly keyUse: readonly KeyUse[];
  readonly wrongAddresses: readonly WrongAddress[];
  readonly catalogue: CatalogueState;
  /** Of the stored catalogue. */
  readonly newestRevision: number;
}

@Injectable()
export class SystemService {
  private readonly version = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;

  constructor(
    private readonly config: AppConfig,
    private readonly metrics: Metrics,
    private readonly readiness: Readiness,
    private readonly horizon: LogHorizonReader,
    private readonly states: SystemStateRepository,
    private readonly endpoints: EndpointReports,
    private readonly clock: Clock,
    private readonly rateLimiter: RateLimiter,
    private readonly catalogue: CatalogueSource,
    private readonly revisions: CatalogueRevisionsRepository,
  ) {}

  async describe({ accountId }: Manager): Promise<System> {
    const now = this.clock.now();
    const [state, migrations, backlog, horizon, keyUse, cache, newestRevision] = await Promise.all([
      this.states.read(),
      this.readiness.describeMigrations(),
      this.states.readBacklog(accountId, new Date(now.getTime() - MAX_DELIVERY_AGE)),
      this.horizon.read(),
      this.states.readKeyUse(accountId),
      this.readCache(),
      this.revisions.newestVersion(),
    ]);
    return {
      ...state,
      version: this.version,
      startedAt: new Date(now.getTime() - Math.round(process.uptime() * 1_000)),
      workers: this.config.workers,
      hasDeliveryProcess: this.config.deliveryProcess === 'own',
      sharesRateLimits: this.rateLimiter.isShared,
      migrations,
      backlog,
      horizon,
      cache,
      encryptionKeyIds: this.config.encryptionKeys.map(({ id }) => id),
      keyUse,
      wrongAddresses: this.endpoints.wrongAddresses(),
      catalogue: this.catalogue.state,
      newestRevision,
    };
  }

  private async readCache(): Promise<System['cache']> {
    const { bytes, timeToLive } = this.config.embeddingCache;
    const counted = await this.metrics.registry.getSingleMetric(CACHE_COUNTER)?.get();
    const countOf = (outcome: string): number =>
      counted?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
    return { bytes, seconds: timeToLive / 1_000, hits: countOf('hit'), misses: countOf('miss') };
  }
}
