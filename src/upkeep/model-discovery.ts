// Asks providers for the names of their models, with the operator's credential (docs/contract.md#discovery). A name enables nothing.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { AppConfig } from '../config/app-config.js';
import type { ModelListState, ProviderModel, SeenModel } from '../domain/providers/provider-model.js';
import { MAX_LISTED_MODELS } from '../domain/providers/provider-model.js';
import { HttpClient, OutboundFailure, OutboundTimeout, OversizedAnswer } from '../outbound/http-client.js';
import { ProviderModelsRepository } from '../persistence/catalogue/provider-models.repository.js';
import { PROVIDERS } from '../providers/index.js';
import { BrokenAnswer, modelListOf, operatorConnection } from '../providers/shared/provider.js';
import type { ModelListWire, Provider, ProviderConnection } from '../providers/shared/provider.js';

// Milliseconds.
const HOUR = 3_600_000;
const PAUSES = { afterAnswer: 6 * HOUR, afterFailure: HOUR };
const TEN_MINUTES = 600_000;
// Processes that start together do not ask together.
const FIRST_AFTER = 30_000;
// For all pages of a list.
const TIMEOUT = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PAGES = 20;

export interface DiscoveredModels extends ModelListState {
  readonly models: readonly SeenModel[];
}

interface AskedProvider {
  readonly slug: string;
  readonly wire: ModelListWire;
  readonly connection: ProviderConnection;
}

@Injectable()
export class ModelDiscovery {
  private readonly logger = new Logger('Discovery');
  /** Providers whose failure the log has named. */
  private readonly failing = new Set<string>();

  constructor(
    private readonly config: AppConfig,
    private readonly http: HttpClient,
    private readonly models: ProviderModelsRepository,
  ) {}

  /** Whether the provider has a list, and the operator has said enough to ask for it. */
  canAsk(provider: Provider): boolean {
    return this.asked(provider) !== null;
  }

  /** Asks no provider. */
  async known(provider: Provider): Promise<DiscoveredModels> {
    const [state, models] = await Promise.all([
      this.models.stateOf(provider.slug),
      this.models.list(provider.slug),
    ]);
    return { ...state, models };
  }

  /** Asks now, whenever the last request was. */
  async ask(provider: Provider): Promise<DiscoveredModels> {
    const asked = this.asked(provider);
    if (asked) {
      await this.models.claim(provider.slug, { afterAnswer: 0, afterFailure: 0 });
      await this.askOne(asked);
    }
    return this.known(provider);
  }

  /** Each provider whose newest request of any process is long ago, one after the other. */
  async askDue(isStopping: () => boolean = () => false): Promise<void> {
    for (const provider of PROVIDERS) {
      if (isStopping()) return;
      const asked = this.asked(provider);
      if (asked && (await this.models.claim(asked.slug, PAUSES))) await this.askOne(asked);
    }
  }

  private asked(provider: Provider): AskedProvider | null {
    const wire = modelListOf(provider);
    const connection = operatorConnection(provider, this.config.providers.get(provider.slug));
    return wire && connection ? { slug: provider.slug, wire, connection } : null;
  }

  private async askOne(asked: AskedProvider): Promise<void> {
    const { slug } = asked;
    try {
      const models = await this.readAll(asked);
      if (models.length === 0) throw new BrokenAnswer('the list is empty');
      await this.models.record(slug, models);
      this.failing.delete(slug);
    } catch (error) {
      const problem = problemOf(error);
      if (problem === null) throw error;
      await this.models.noteFailure(slug, problem);
      if (!this.failing.has(slug))
        this.logger.warn(`${slug} does not list its models: ${problem}; will retry`);
      this.failing.add(slug);
    }
  }

  private async readAll({ wire, connection }: AskedProvider): Promise<readonly ProviderModel[]> {
    const until = performance.now() + TIMEOUT;
    const models: ProviderModel[] = [];
    let left = MAX_BYTES;
    let cursor: Readonly<Record<string, string>> | null = null;
    for (let page = 0; page < MAX_PAGES && models.length < MAX_LISTED_MODELS; page++) {
      const timeout = until - performance.now();
      if (timeout <= 0) throw new OutboundTimeout('no answer in time');
      const response = await this.http.send(wire.buildRequest(connection, cursor), {
        timeout,
        maxResponseBytes: left,
      });
      if (response.status < 200 || response.status >= 300) throw new RejectedList(response.status);
      left -= response.body.length;
      const { models: found, next } = wire.readPage(response);
      models.push(...found);
      if (next === null || left <= 0) break;
      cursor = next;
    }
    return models.slice(0, MAX_LISTED_MODELS);
  }
}

class RejectedList extends Error {
  constructor(readonly status: number) {
    super(`it answers with status ${status}`);
  }
}

/** Without words of the provider: the log and every management key may read it. Null: the failure is this service's own. */
function problemOf(error: unknown): string | null {
  if (error instanceof RejectedList || error instanceof BrokenAnswer) return error.message;
  if (error instanceof OutboundTimeout) return `no answer within ${TIMEOUT / 1000} s`;
  if (error instanceof OversizedAnswer) return `the list is larger than ${MAX_BYTES / 2 ** 20} MiB`;
  return error instanceof OutboundFailure ? 'the connection failed' : null;
}

/** In the process that delivers. */
@Injectable()
export class DiscoveryTask implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Discovery');
  private readonly task = RepeatedTask.every(
    TEN_MINUTES,
    () => this.discovery.askDue(() => this.task.isStopping),
    (error) => this.logger.warn({ error }, 'failed to store the models of a provider; will retry'),
  );

  constructor(
    private readonly discovery: ModelDiscovery,
    private readonly config: AppConfig,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.discoversModels) this.task.start(Math.random() * FIRST_AFTER);
  }

  onApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }
}
