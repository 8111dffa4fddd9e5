// Loads the catalogue from the operator's file: at the start, and again after every change of the file.
import { readFileSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { readCatalogueFile } from '../catalogue/catalogue-file.js';
import type { CatalogueContents } from '../catalogue/catalogue-file.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { ChatCatalogue } from '../catalogue/chat-catalogue.js';
import { CHAT_MODELS, MODELS } from '../catalogue/models.js';
import { CatalogueFileError } from '../catalogue/yaml-cursor.js';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { ConfigError } from '../config/environment-reader.js';
import { canonicalEndpointTag, EMBEDDING_PROVIDERS } from '../providers/index.js';

// Milliseconds. Polling the file's times works where notifications do not: editors and volume mounts replace files.
const POLL_INTERVAL = 1_000;

/** The models at the start. Throws ConfigError, one line, when the file is invalid. */
export function loadCatalogueModels(file: string | undefined): CatalogueContents {
  if (file === undefined) return { models: MODELS, chatModels: CHAT_MODELS };
  try {
    return modelsOf(readFileSync(file, 'utf8'), file);
  } catch (error) {
    throw new ConfigError(`CATALOGUE_FILE: ${reasonOf(error, file)}`);
  }
}

export class CatalogueSource implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly catalogue: Catalogue;
  readonly chatCatalogue: ChatCatalogue;
  private readonly logger = new Logger('Catalogue');
  private readonly task = RepeatedTask.every(POLL_INTERVAL, () => this.reloadIfChanged());
  private seen: string | null;

  constructor(private readonly file: string | undefined) {
    // Before reading: a change in between is then detected.
    this.seen = file === undefined ? null : describe(statSync(file, { throwIfNoEntry: false }));
    const { models, chatModels } = loadCatalogueModels(file);
    this.catalogue = new Catalogue(models);
    this.chatCatalogue = new ChatCatalogue(chatModels);
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
      const { models, chatModels } = modelsOf(await readFile(this.file, 'utf8'), this.file);
      this.catalogue.replace(models);
      this.chatCatalogue.replace(chatModels);
      this.logger.log(`reloaded the catalogue: ${models.length + chatModels.length} models`);
    } catch (error) {
      this.logger.warn(
        `failed to load the changed catalogue file; the old catalogue stays: ${reasonOf(error, this.file)}`,
      );
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
  const providers = EMBEDDING_PROVIDERS.map(({ slug }) => slug);
  const oneModelProviders = EMBEDDING_PROVIDERS.flatMap(({ slug, servesOneModel }) =>
    servesOneModel ? [slug] : [],
  );
  const families = new Map(
    EMBEDDING_PROVIDERS.flatMap((provider) =>
      provider.families ? [[provider.slug, provider.families] as const] : [],
    ),
  );
  return readCatalogueFile(text, {
    fileName: file,
    shipped: MODELS,
    shippedChat: CHAT_MODELS,
    providers,
    chatProviders: EMBEDDING_PROVIDERS.flatMap(({ slug, chat }) => (chat ? [slug] : [])),
    canonicalTag: canonicalEndpointTag,
    oneModelProviders,
    families,
  });
}

/** Null: the file does not exist. */
function describe(stats: Stats | undefined): string | null {
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : null;
}

function reasonOf(error: unknown, file: string): string {
  if (error instanceof CatalogueFileError) return error.message;
  const { code } = error as { code?: unknown };
  return `${file} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
