// The catalogue in force: the shipped models, stored rows over them, and the operator's file over both, which is read at the
// start and after every change.
import { readFileSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import {
  AliasCatalogue,
  Catalogue,
  ChatCatalogue,
  RerankCatalogue,
  UnlistedCatalogue,
} from '../catalogue/catalogue.js';
import type { ModelLookup } from '../catalogue/catalogue.js';
import { SHIPPED } from '../catalogue/generated/shipped.js';
import { CatalogueError, Cursor } from '../catalogue/reader/cursor.js';
import { contentsOf, kindOf, KINDS } from '../catalogue/reader/kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from '../catalogue/reader/kinds.js';
import { openLayer, readLayer } from '../catalogue/reader/layer.js';
import { parseYaml } from '../catalogue/reader/yaml.js';
import { LayeredCatalogue } from '../catalogue/layered-catalogue.js';
import type { EntryState, RowsChange } from '../catalogue/layered-catalogue.js';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { ConfigError } from '../config/environment-reader.js';
import type { ProviderWire } from '../domain/chat/model-wire.js';
import type { Clock } from '../domain/clock.js';
import { chatWiresOf, modelListOf, rerankWireOf } from '../providers/shared/provider.js';
import type { Provider } from '../providers/shared/provider.js';
import { canonicalEndpointTag, EMBEDDING_PROVIDERS, PROVIDERS } from '../providers/index.js';

// Milliseconds. Polling the file's times works where notifications do not: editors and volume mounts replace files.
const POLL_INTERVAL = 1_000;

/** The rules of the operator's file. */
export const RULES: CatalogueRules = {
  providers: EMBEDDING_PROVIDERS.map(({ slug }) => slug),
  chatWires: new Map(PROVIDERS.flatMap((provider) => chatWiresIn(provider))),
  discovered: PROVIDERS.filter(
    (provider) => chatWiresOf(provider).length > 0 && modelListOf(provider) !== undefined,
  ).map(({ slug }) => slug),
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
    shippedCursors(),
    contentsOf(() => []),
    SHIPPED_RULES,
  );
  return shipped;
}

function shippedCursors(): Cursor[] {
  return Object.entries(JSON.parse(SHIPPED) as object).map(([name, value]) => new Cursor({ name }, value));
}

/** The models at the start. Throws ConfigError, one line, when the file is invalid. */
export function loadCatalogueModels(file: string | undefined): CatalogueContents {
  return file === undefined ? shippedCatalogue() : readLayer([readAtStart(file)], shippedCatalogue(), RULES);
}

/** Throws ConfigError, one line, when the file is invalid. */
function readAtStart(file: string): Cursor {
  try {
    const document = parseYaml(readFileSync(file, 'utf8'), file);
    readLayer([document], shippedCatalogue(), RULES);
    return document;
  } catch (error) {
    throw new ConfigError(`CATALOGUE_FILE: ${reasonOf(error, file)}`);
  }
}

/** The catalogue for an operator. */
export interface CatalogueState extends Readonly<Record<keyof CatalogueContents, number>> {
  /** The name of the operator's file, without its folders; null: there is none. */
  readonly file: string | null;
  readonly loadedAt: Date;
  /** Why the changed file is not in force; null: it is. */
  readonly problem: string | null;
  /** The newest stored revision that is loaded; 0: none. */
  readonly version: number;
  /** Revisions that this build cannot read: their models stay as they were. */
  readonly unreadable: readonly EntryState[];
}

export class CatalogueSource implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly catalogue: Catalogue;
  readonly chatCatalogue: ChatCatalogue;
  readonly rerankCatalogue: RerankCatalogue;
  readonly aliasCatalogue: AliasCatalogue;
  readonly unlistedCatalogue: UnlistedCatalogue;
  /** All layers below calls. */
  readonly layers: LayeredCatalogue;
  private readonly catalogues: Readonly<Record<Kind, ModelLookup<AnyModel>>>;
  private readonly logger = new Logger('Catalogue');
  private readonly task = RepeatedTask.every(POLL_INTERVAL, () => this.reloadIfChanged());
  private seen: string | null;
  private loadedAt: Date;
  private problem: string | null = null;
  /** The operator's file as it is in force; null: there is none. */
  private document: Cursor | null = null;

  constructor(
    private readonly file: string | undefined,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.loadedAt = clock.now();
    // Before reading: a change in between is then detected.
    this.seen = file === undefined ? null : describe(statSync(file, { throwIfNoEntry: false }));
    const models = shippedCatalogue();
    // Endpoints that rows add have the defaults of the shipped ones, so that a row says no more than is its own.
    this.layers = new LayeredCatalogue(models, openLayer(shippedCursors(), RULES).readers, RULES);
    this.catalogue = new Catalogue(models.models);
    this.chatCatalogue = new ChatCatalogue(models.chatModels);
    this.rerankCatalogue = new RerankCatalogue(models.rerankModels);
    this.aliasCatalogue = new AliasCatalogue(models.movingAliases);
    this.unlistedCatalogue = new UnlistedCatalogue(models.unlisted);
    this.catalogues = {
      models: this.catalogue,
      chat_models: this.chatCatalogue,
      rerank_models: this.rerankCatalogue,
      moving_aliases: this.aliasCatalogue,
      unlisted: this.unlistedCatalogue,
    };
    if (file !== undefined) this.applyFile(readAtStart(file));
  }

  get state(): CatalogueState {
    return {
      file: this.file === undefined ? null : basename(this.file),
      loadedAt: this.loadedAt,
      problem: this.problem,
      ...this.counts(),
      version: this.layers.version,
      unreadable: this.layers.problems,
    };
  }

  /** All models in force, disabled ones as well. */
  list(kind: Kind): readonly AnyModel[] {
    return this.catalogues[kind].listAll();
  }

  /** The operator's file as plain values; null: there is none. */
  get fileDocument(): unknown {
    return this.document?.plainValue ?? null;
  }

  /** Puts the change in force, in one step. Calls in flight keep the models that they were planned with. */
  apply(change: RowsChange): void {
    this.layers.apply(change);
    this.update(change.models);
  }

  /** False: calls are rejected with 503 until rows are applied, as these may state other prices. */
  serve(isKnown: boolean): void {
    for (const kind of KINDS) this.catalogues[kind].serve(isKnown);
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
      const document = parseYaml(await readFile(this.file, 'utf8'), this.file);
      // A start reads the file before it knows the rows.
      readLayer([document], shippedCatalogue(), RULES);
      this.applyFile(document);
      this.problem = null;
      const count = Object.values(this.counts()).reduce((sum, models) => sum + models, 0);
      this.logger.log(`reloaded the catalogue: ${count} models`);
    } catch (error) {
      const reason = reasonOf(error, this.file);
      this.problem = reason.replaceAll(this.file, basename(this.file));
      this.logger.warn(`failed to load the changed catalogue file; the old catalogue stays: ${reason}`);
    }
  }

  /** Throws CatalogueError, and changes nothing, where the file cannot stand over the rows. */
  private applyFile(document: Cursor): void {
    const change = this.layers.planFile(document);
    this.layers.applyFile(change);
    this.document = document;
    this.update(change.models);
  }

  private update(models: RowsChange['models']): void {
    for (const kind of KINDS)
      this.catalogues[kind].update(
        models.filter((change) => change.kind === kind),
        this.layers.version,
      );
    this.loadedAt = this.clock.now();
  }

  private counts(): Record<keyof CatalogueContents, number> {
    const counts = KINDS.map((kind) => [kindOf(kind).member, this.catalogues[kind].list().length] as const);
    return Object.fromEntries(counts) as Record<keyof CatalogueContents, number>;
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

/** Null: the file does not exist. */
function describe(stats: Stats | undefined): string | null {
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : null;
}

function reasonOf(error: unknown, file: string): string {
  if (error instanceof CatalogueError) return error.message;
  const { code } = error as { code?: unknown };
  return `${file} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
