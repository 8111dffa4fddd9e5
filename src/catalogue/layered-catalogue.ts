// The layers of the catalogue: stored rows over the shipped models, imported ones below those of the operator, and the operator's
// file over all. A change reads the models that it concerns; the others are shared.
import { CatalogueError, Cursor } from './reader/cursor.js';
import { byKind, KINDS, modelsOf } from './reader/kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from './reader/kinds.js';
import { openLayer, readStated } from './reader/layer.js';
import type { ModelReaders } from './reader/layer.js';
import { ModelIndex } from './reader/model-index.js';
import type { ChangedModel, StatedModel } from './reader/model-index.js';
import { RANKS } from './stored-entry.js';
import type { Rank, StoredEntry } from './stored-entry.js';

/** The stored state of a model. */
export interface EntryState extends Pick<StoredEntry, 'kind' | 'id' | 'version'> {
  readonly ranks: readonly Rank[];
  /** Why this build cannot read it, or not beside the other layers; null: it can. */
  readonly problem: string | null;
}

/** An entry as this build reads it. */
export interface ReadEntry extends EntryState {
  /** Below the file. Null: no layer has the model. */
  readonly model: AnyModel | null;
}

/** The catalogue after a change, before the change is applied. */
export interface RowsChange {
  /** The newest revision that it contains. */
  readonly version: number;
  readonly entries: readonly ReadEntry[];
  readonly models: readonly ChangedModel[];
}

interface FileLayer {
  readonly readers: ModelReaders;
  /** By id. */
  readonly items: Readonly<Record<Kind, ReadonlyMap<string, Cursor>>>;
}

export interface FileChange extends Pick<RowsChange, 'models'> {
  readonly file: FileLayer;
}

export class LayeredCatalogue {
  private readonly shipped: Readonly<Record<Kind, ReadonlyMap<string, AnyModel>>>;
  private readonly index: ModelIndex;
  private readonly entries = new Map<string, EntryState>();
  private readonly unreadable = new Map<string, EntryState>();
  /** The models by their readable rows. Null: nothing is left of the model. */
  private readonly rows = new Map<string, AnyModel | null>();
  private file: FileLayer | null = null;
  private newest = 0;

  constructor(
    shipped: CatalogueContents,
    private readonly readers: ModelReaders,
    private readonly rules: CatalogueRules,
  ) {
    this.shipped = byKind((kind) => new Map(modelsOf(shipped, kind).map((model) => [model.id, model])));
    this.index = new ModelIndex(shipped, rules.oneModelProviders);
  }

  /** The newest revision that it contains; 0: none. */
  get version(): number {
    return this.newest;
  }

  /** Those with a row. */
  get entryCount(): number {
    return this.entries.size;
  }

  /** The entries whose model is as it was before. */
  get problems(): EntryState[] {
    return [...this.unreadable.values()];
  }

  /** Undefined: it has never had a row. */
  entry(kind: Kind, id: string): EntryState | undefined {
    return this.entries.get(keyOf({ kind, id }));
  }

  /** Of any layer, with the names that its layers give it; a disabled one as well. */
  model(kind: Kind, id: string): AnyModel | undefined {
    return this.index.stated(kind, id);
  }

  /** The model that has the name. */
  ownerOf(name: string): { readonly kind: Kind; readonly id: string } | undefined {
    return this.index.ownerOf(name);
  }

  /** Whether the operator's file adds or changes it. */
  isOfFile(kind: Kind, id: string): boolean {
    return this.file?.items[kind].has(id) ?? false;
  }

  /** Below the file; undefined: no layer has it. */
  private below(kind: Kind, id: string): AnyModel | undefined {
    const row = this.rows.get(keyOf({ kind, id }));
    return row === undefined ? this.shipped[kind].get(id) : (row ?? undefined);
  }

  /** Never throws: an entry that cannot be read says why. Piece by piece, as it may read thousands. */
  *read(entries: readonly StoredEntry[]): Generator<undefined, ReadEntry[]> {
    const read: ReadEntry[] = [];
    for (const entry of entries) {
      read.push(this.readEntry(entry));
      yield;
    }
    return read;
  }

  /** A model that cannot be read, or whose names collide, stays as it was. The others change. */
  plan(version: number, read: readonly ReadEntry[]): RowsChange {
    const entries = new Map(read.map((entry) => [keyOf(entry), entry]));
    const stated = new Map<string, StatedModel>();
    const drop = (key: string, problem: string): void => {
      stated.delete(key);
      const entry = entries.get(key);
      if (entry) entries.set(key, { ...entry, problem });
    };
    for (const entry of read)
      if (entry.problem === null)
        try {
          stated.set(keyOf(entry), this.underFile(entry));
        } catch (error) {
          if (!(error instanceof CatalogueError)) throw error;
          drop(keyOf(entry), `beside CATALOGUE_FILE: ${error.message}`);
        }
    for (;;)
      try {
        return { version, entries: [...entries.values()], models: this.index.check([...stated.values()]) };
      } catch (error) {
        if (!(error instanceof CatalogueError) || !stated.has(error.source)) throw error;
        drop(error.source, problemOf(error));
      }
  }

  apply({ version, entries, models }: RowsChange): void {
    for (const { model, ...state } of entries) {
      const key = keyOf(state);
      this.entries.set(key, state);
      if (state.problem === null) {
        this.rows.set(key, model);
        this.unreadable.delete(key);
      } else this.unreadable.set(key, state);
    }
    this.index.apply(models);
    this.newest = version;
  }

  /** Throws CatalogueError: it cannot stand over the layers below. */
  planFile(document: Cursor): FileChange {
    const layer = openLayer([document], this.rules);
    const stated = readStated(layer, (kind, id) => this.below(kind, id));
    const items = byKind(
      (kind) =>
        new Map(stated.flatMap(({ kind: own, id, cursor }) => (own === kind ? [[id, cursor] as const] : []))),
    );
    const left = KINDS.flatMap((kind) =>
      [...(this.file?.items[kind].keys() ?? [])].flatMap((id) =>
        items[kind].has(id) ? [] : [{ kind, id, model: this.below(kind, id) ?? null, cursor: document }],
      ),
    );
    return { file: { readers: layer.readers, items }, models: this.index.check([...stated, ...left]) };
  }

  applyFile({ file, models }: FileChange): void {
    this.file = file;
    this.index.apply(models);
  }

  private readEntry({ kind: name, id, version, documents }: StoredEntry): ReadEntry {
    const ranks = RANKS.filter((rank) => (documents[rank] ?? null) !== null);
    const entry = { kind: name, id, version, ranks };
    const kind = KINDS.find((known) => known === name);
    if (!kind) return { ...entry, model: null, problem: `this release knows no ${name}` };
    let model = this.shipped[kind].get(id);
    try {
      for (const rank of ranks) {
        const cursor = new Cursor({ name: keyOf(entry) }, documents[rank]);
        const below = model;
        model = this.readers[kind](cursor, { get: (known) => (known === id ? below : undefined) });
        if (model.id !== id) cursor.fail(`id: must be ${id}`);
      }
      return { ...entry, model: model ?? null, problem: null };
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      return { ...entry, model: null, problem: problemOf(error) };
    }
  }

  /** Throws CatalogueError of the file. */
  private underFile(entry: ReadEntry): StatedModel {
    const { id, model } = entry;
    const kind = entry.kind as Kind;
    const item = this.file?.items[kind].get(id);
    const get = (): AnyModel | undefined => model ?? undefined;
    return {
      kind,
      id,
      model: this.file && item ? this.file.readers[kind](item, { get }) : model,
      cursor: new Cursor({ name: keyOf(entry) }, null),
    };
  }
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind} ${id}`;
}

/** The entry names itself. */
function problemOf({ message, source }: CatalogueError): string {
  return message.slice(source.length + 2);
}
