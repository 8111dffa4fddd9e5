// Loads the catalogue: the shipped models once, and the operator's file at the start and after every change.
import { readFileSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Catalogue, ChatCatalogue, RerankCatalogue } from '../catalogue/catalogue.js';
import { SHIPPED } from '../catalogue/generated/shipped.js';
import { CatalogueError, Cursor } from '../catalogue/reader/cursor.js';
import { readLayer } from '../catalogue/reader/layer.js';
import type { CatalogueContents, CatalogueRules } from '../catalogue/reader/layer.js';
import { parseYaml } from '../catalogue/reader/yaml.js';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { ConfigError } from '../config/environment-reader.js';
import type { ProviderWire } from '../domain/chat/model-wire.js';
import type { Clock } from '../domain/clock.js';
import { chatWiresOf, rerankWireOf } from '../providers/shared/provider.js';
import type { Provider } from '../providers/shared/provider.js';
import { canonicalEndpointTag, EMBEDDING_PROVIDERS, PROVIDERS } from '../providers/index.js';

// Milliseconds. Polling the file's times works where notifications do not: editors and volume mounts replace files.
const POLL_INTERVAL = 1_000;

/** The rules of the operator's file. */
export const RULES: CatalogueRules = {
  providers: EMBEDDING_PROVIDERS.map(({ slug }) => slug),
  chatWires: new Map(PROVIDERS.flatMap((provider) => chatWiresIn(provider))),
  closedProviders: ['local'],
  canonicalTag: canonicalEndpointTag,
  oneModelProviders: EMBEDDING_PROVIDERS.flatMap(({ slug, servesOneModel }) =>
    servesOneModel ? [slug] : [],
  ),
  families: new Map(
    EMBEDDING_PROVIDERS.flatMap(({ slug, families }) => (families ? [[slug, families] as const] : [])),
  ),
  rerank: new Map(
    PROVIDERS.flatMap((provider) => {
      const wire = rerankWireOf(provider);
      return wire
        ? [[provider.slug, { bills: wire.bills, takesPath: wire.takesPath === true }] as const]
        : [];
    }),
  ),
};

function chatWiresIn(provider: Provider): [string, readonly ProviderWire[]][] {
  if (provider.chat === undefined) return [];
  const wires = chatWiresOf(provider).map(({ protocol }) => protocol);
  return [[provider.slug, wires.length === 0 ? ['chat'] : wires]];
}

export const SHIPPED_RULES: CatalogueRules = { ...RULES, closedProviders: [] };

let shipped: CatalogueContents | undefined;

/** The models without the operator's file, read once a process. */
export function shippedCatalogue(): CatalogueContents {
  shipped ??= readLayer(
    Object.entries(JSON.parse(SHIPPED) as object).map(([name, value]) => new Cursor({ name }, value)),
    { models: [], chatModels: [], rerankModels: [] },
    SHIPPED_RULES,
  );
  return shipped;
}

/** The models at the start. Throws ConfigError, one line, when the file is invalid. */
export function loadCatalogueModels(file: string | undefined): CatalogueContents {
  if (file === undefined) return shippedCatalogue();
  try {
    return modelsOf(readFileSync(file, 'utf8'), file);
  } catch (error) {
    throw new ConfigError(`CATALOGUE_FILE: ${reasonOf(error, file)}`);
  }
}

/** The catalogue for an operator. */
export interface CatalogueState {
  /** The name of the operator's file, without its folders; null: there is none. */
  readonly file: string | null;
  readonly loadedAt: Date;
  /** Why the changed file is not in force; null: it is. */
  readonly problem: string | null;
  readonly models: number;
  readonly chatModels: number;
  readonly rerankModels: number;
}

export class CatalogueSource implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly catalogue: Catalogue;
  readonly chatCatalogue: ChatCatalogue;
  readonly rerankCatalogue: RerankCatalogue;
  private readonly logger = new Logger('Catalogue');
  private readonly task = RepeatedTask.every(POLL_INTERVAL, () => this.reloadIfChanged());
  private seen: string | null;
  private loadedAt: Date;
  private problem: string | null = null;

  constructor(
    private readonly file: string | undefined,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.loadedAt = clock.now();
    // Before reading: a change in between is then detected.
    this.seen = file === undefined ? null : describe(statSync(file, { throwIfNoEntry: false }));
    const { models, chatModels, rerankModels } = loadCatalogueModels(file);
    this.catalogue = new Catalogue(models);
    this.chatCatalogue = new ChatCatalogue(chatModels);
    this.rerankCatalogue = new RerankCatalogue(rerankModels);
  }

  get state(): CatalogueState {
    return {
      file: this.file === undefined ? null : basename(this.file),
      loadedAt: this.loadedAt,
      problem: this.problem,
      models: this.catalogue.list().length,
      chatModels: this.chatCatalogue.list().length,
      rerankModels: this.rerankCatalogue.list().length,
    };
  }

  onApplicationBootstrap(): void {
    if (this.file !== undefined) this.task.start(POLL_INTERVAL);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.task.stop();
  }

  /** Never fails: an invalid file leaves the catalogue unchanged, and the log gives the reason. */
  async reload(): Promise<void> {
    if (this.file === undefined) return;
    try {
      const { models, chatModels, rerankModels } = modelsOf(await readFile(this.file, 'utf8'), this.file);
      this.catalogue.replace(models);
      this.chatCatalogue.replace(chatModels);
      this.rerankCatalogue.replace(rerankModels);
      this.loadedAt = this.clock.now();
      this.problem = null;
      const count = models.length + chatModels.length + rerankModels.length;
      this.logger.log(`reloaded the catalogue: ${count} models`);
    } catch (error) {
      const reason = reasonOf(error, this.file);
      this.problem = reason.replaceAll(this.file, basename(this.file));
      this.logger.warn(`failed to load the changed catalogue file; the old catalogue stays: ${reason}`);
    }
  }

  /** Never fails. */
  private async reloadIfChanged(): Promise<void> {
    if (this.file === undefined) return;
    const now = describe(await stat(this.file).catch(() => undefined));
    if (now === this.seen) return;
    this.seen = now;
    await this.reload();
  }
}

function modelsOf(text: string, file: string): CatalogueContents {
  return readLayer([parseYaml(text, file)], shippedCatalogue(), RULES);
}

/** Null: the file does not exist. */
function describe(stats: Stats | undefined): string | null {
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : null;
}

function reasonOf(error: unknown, file: string): string {
  if (error instanceof CatalogueError) return error.message;
  const { code } = error as { code?: unknown };
  return `${file} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
