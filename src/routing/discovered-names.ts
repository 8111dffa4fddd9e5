// The names that providers have listed within a day, in memory of each process (docs/contract.md#discovery).
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { Clock } from '../domain/clock.js';
import { CALLABLE_HOURS } from '../domain/providers/provider-model.js';
import type { ModelFacts } from '../domain/providers/provider-model.js';
import { ProviderModelsRepository } from '../persistence/catalogue/provider-models.repository.js';
import { Notifications } from '../persistence/database/notifications.js';

const CHANNEL = 'provider_models_changed';
// Milliseconds.
const HOUR = 3_600_000;
const COMPARISON_INTERVAL = 300_000;

export type NamedFacts = Pick<ModelFacts, 'kind' | 'displayName' | 'contextLength' | 'maxOutputTokens'>;

interface SeenName extends NamedFacts {
  /** Unix milliseconds. */
  readonly lastSeen: number;
}

@Injectable()
export class DiscoveredNames implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Discovery');
  private names: ReadonlyMap<string, ReadonlyMap<string, SeenName>> = new Map();
  private loading: Promise<void> = Promise.resolve();
  private readonly comparison = RepeatedTask.every(COMPARISON_INTERVAL, () => this.load());

  constructor(
    private readonly models: ProviderModelsRepository,
    private readonly clock: Clock,
    notifications: Notifications,
  ) {
    const load = (): void => void this.load();
    notifications.subscribe({ channel: CHANNEL, onNotification: load, onConnected: load });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.load();
    this.comparison.start(COMPARISON_INTERVAL);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.comparison.stop();
    await this.loading;
  }

  /** Undefined: the provider has not listed the name within a day. */
  find(provider: string, name: string): NamedFacts | undefined {
    const found = this.names.get(provider)?.get(name);
    return found && this.isCurrent(found) ? found : undefined;
  }

  /** Whether the provider has listed any name within a day. */
  hasList(provider: string): boolean {
    return [...(this.names.get(provider)?.values() ?? [])].some((seen) => this.isCurrent(seen));
  }

  list(): { readonly provider: string; readonly name: string; readonly facts: NamedFacts }[] {
    return [...this.names].flatMap(([provider, names]) =>
      [...names]
        .filter(([, seen]) => this.isCurrent(seen))
        .map(([name, facts]) => ({ provider, name, facts })),
    );
  }

  /** Never fails: the next one covers for it. */
  private load(): Promise<void> {
    this.loading = this.loading
      .then(() => this.read())
      .catch((error: unknown) =>
        this.logger.warn({ error }, 'failed to load the names that providers list; will retry'),
      );
    return this.loading;
  }

  private async read(): Promise<void> {
    const names = new Map<string, Map<string, SeenName>>();
    for (const { provider, name, lastSeen, facts } of await this.models.seenSince(this.oldest())) {
      const { kind, displayName, contextLength, maxOutputTokens } = facts;
      const known = names.get(provider) ?? new Map<string, SeenName>();
      known.set(name, { kind, displayName, contextLength, maxOutputTokens, lastSeen: lastSeen.getTime() });
      names.set(provider, known);
    }
    this.names = names;
  }

  private isCurrent({ lastSeen }: SeenName): boolean {
    return lastSeen >= this.oldest().getTime();
  }

  private oldest(): Date {
    return new Date(this.clock.now().getTime() - CALLABLE_HOURS * HOUR);
  }
}
