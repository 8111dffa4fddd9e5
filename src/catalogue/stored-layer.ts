// The stored rows of the catalogue over the shipped models: imported rows, and those of the operator over them. A value: a
// change makes another one.
import { CatalogueError, Cursor } from './reader/cursor.js';
import { byKind, KINDS, modelsOf } from './reader/kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from './reader/kinds.js';
import { checkedLayer } from './reader/layer.js';
import type { ModelReaders } from './reader/layer.js';

/** Lowest first. */
export const RANKS = ['imported', 'operator'] as const;
export type Rank = (typeof RANKS)[number];

/** The newest revisions of an entry. */
export interface StoredEntry {
  /** One of KINDS; a later release may store others. */
  readonly kind: string;
  /** The id of the model. */
  readonly id: string;
  /** The newest version of the ranks. */
  readonly version: number;
  /** In the format of a catalogue file. Absent: the rank has none, or its layer has ended. */
  readonly documents: Readonly<Partial<Record<Rank, unknown>>>;
}

/** An entry as this build reads it. */
interface ReadEntry extends Pick<StoredEntry, 'kind' | 'id' | 'version'> {
  readonly ranks: readonly Rank[];
  /** Null: no layer has the model. */
  readonly model: AnyModel | null;
  /** Why this build cannot read it; null: it can. */
  readonly problem: string | null;
}

/** The stored state of a model. */
export type EntryState = Omit<ReadEntry, 'model'>;

type Models = Readonly<Record<Kind, ReadonlyMap<string, AnyModel>>>;

interface LayerState {
  readonly version: number;
  readonly entries: ReadonlyMap<string, ReadEntry>;
  readonly models: Models;
}

export class StoredLayer {
  private constructor(
    private readonly shipped: Models,
    private readonly readers: ModelReaders,
    private readonly rules: CatalogueRules,
    private readonly state: LayerState,
    /** The shipped models with the changes of the rows, then added models in the order of their ids. */
    readonly contents: CatalogueContents,
  ) {}

  static over(shipped: CatalogueContents, readers: ModelReaders, rules: CatalogueRules): StoredLayer {
    const models = byKind((kind) => new Map(modelsOf(shipped, kind).map((model) => [model.id, model])));
    return new StoredLayer(models, readers, rules, { version: 0, entries: new Map(), models }, shipped);
  }

  /** The newest revision that it contains; 0: none. */
  get version(): number {
    return this.state.version;
  }

  /** Those with a row. */
  entries(): EntryState[] {
    return [...this.state.entries.values()];
  }

  /** Undefined: it has never had a row. */
  entry(kind: Kind, id: string): EntryState | undefined {
    return this.state.entries.get(keyOf({ kind, id }));
  }

  /** Of any rank below the file's; a disabled one as well. */
  model(kind: Kind, id: string): AnyModel | undefined {
    return this.state.models[kind].get(id);
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

  /** A model that cannot be read, or whose names collide, stays as it was. The others apply. */
  with(version: number, changed: readonly ReadEntry[]): StoredLayer {
    const entries = new Map(this.state.entries);
    for (const entry of changed) entries.set(keyOf(entry), entry);
    const readable = new Map(
      changed.flatMap((entry) => (entry.problem === null ? [[keyOf(entry), entry] as const] : [])),
    );
    for (;;) {
      try {
        return this.built(version, entries, [...readable.values()]);
      } catch (error) {
        const entry = error instanceof CatalogueError ? readable.get(error.source) : undefined;
        if (!entry) throw error;
        readable.delete(keyOf(entry));
        entries.set(keyOf(entry), { ...entry, model: null, problem: problemOf(error as CatalogueError) });
      }
    }
  }

  /** Throws CatalogueError of a changed entry. */
  private built(
    version: number,
    entries: ReadonlyMap<string, ReadEntry>,
    changed: readonly ReadEntry[],
  ): StoredLayer {
    const models = byKind((kind) => new Map(this.state.models[kind]));
    const named = byKind(() => new Map<string, Cursor>());
    for (const entry of changed) {
      const { id, model } = entry;
      const kind = entry.kind as Kind;
      if (model) models[kind].set(id, model);
      else models[kind].delete(id);
      named[kind].set(id, new Cursor({ name: keyOf(entry) }, null));
    }
    const ordered = byKind((kind) => this.ordered(kind, models[kind]));
    const checked = checkedLayer({ models: ordered, named }, this.rules);
    const state = { version, entries, models };
    return new StoredLayer(this.shipped, this.readers, this.rules, state, checked);
  }

  private readEntry({ kind: name, id, version, documents }: StoredEntry): ReadEntry {
    const ranks = RANKS.filter((rank) => (documents[rank] ?? null) !== null);
    const entry = { kind: name, id, version, ranks };
    const kind = KINDS.find((known) => known === name);
    if (!kind) return { ...entry, model: null, problem: `this release knows no ${name}` };
    let model = this.shipped[kind].get(id) ?? null;
    try {
      for (const rank of ranks) {
        const cursor = new Cursor({ name: keyOf(entry) }, documents[rank]);
        model = this.readers[kind](cursor, new Map(model ? [[id, model]] : []));
        if (model.id !== id) cursor.fail(`id: must be ${id}`);
      }
      return { ...entry, model, problem: null };
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      return { ...entry, model: null, problem: problemOf(error) };
    }
  }

  /** Every process lists the models in one order, whatever it has loaded first. */
  private ordered(kind: Kind, models: ReadonlyMap<string, AnyModel>): AnyModel[] {
    const shipped = [...this.shipped[kind].keys()].flatMap((id) => models.get(id) ?? []);
    const added = [...models.values()].filter(({ id }) => !this.shipped[kind].has(id));
    added.sort((one, other) => (one.id < other.id ? -1 : 1));
    return [...shipped, ...added];
  }
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind} ${id}`;
}

/** The entry names itself. */
function problemOf({ message, source }: CatalogueError): string {
  return message.slice(source.length + 2);
}
