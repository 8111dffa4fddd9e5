// Reads one layer of the catalogue over the layers below: the shipped models, the operator's file, or a model of a row.
import type { Cursor, ObjectCursor } from './cursor.js';
import { byKind, kindOf, KINDS } from './kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from './kinds.js';
import { SHARED_MEMBERS } from './members.js';
import type { KnownModels } from './members.js';
import { ModelIndex } from './model-index.js';
import type { StatedModel } from './model-index.js';

type ReadModel = (cursor: Cursor, known: KnownModels<AnyModel>) => AnyModel;
export type ModelReaders = Readonly<Record<Kind, ReadModel>>;

/** Documents of one layer. */
export interface Layer {
  readonly readers: ModelReaders;
  readonly items: readonly { readonly kind: Kind; readonly cursor: Cursor }[];
}

/**
 * The models below with the changes of the layer, then the models that it adds. Throws CatalogueError.
 *
 * A member that the layer does not name keeps its value. `prices` replaces the whole list, so that a row of a later day below
 * cannot win.
 */
export function readLayer(
  documents: readonly Cursor[],
  below: CatalogueContents,
  rules: CatalogueRules,
): CatalogueContents {
  const index = new ModelIndex(below, rules.oneModelProviders);
  const stated = readStated(openLayer(documents, rules), (kind, id) => index.stated(kind, id));
  index.apply(index.check(stated));
  return index.contents;
}

/** Its readers give the defaults of the documents to the endpoints that it adds. */
export function openLayer(documents: readonly Cursor[], rules: CatalogueRules): Layer {
  const tops = documents.map((document) => document.object(['defaults', ...KINDS]));
  const items = KINDS.flatMap((kind) =>
    tops.flatMap((top) =>
      (top.optional(kind, (list) => list.list()) ?? []).map((cursor) => ({ kind, cursor })),
    ),
  );
  return { readers: readersOf(tops, rules), items };
}

/** `below`: the model of the layers below. */
export function readStated(
  { readers, items }: Layer,
  below: (kind: Kind, id: string) => AnyModel | undefined,
): StatedModel[] {
  const named = byKind(() => new Set<string>());
  return items.map(({ kind, cursor }) => {
    const model = readers[kind](cursor, { get: (id) => below(kind, id) });
    if (named[kind].has(model.id)) cursor.fail(`${model.id} appears twice`);
    named[kind].add(model.id);
    return { kind, id: model.id, model, cursor };
  });
}

function readersOf(tops: readonly ObjectCursor[], rules: CatalogueRules): ModelReaders {
  return byKind((name) => {
    const kind = kindOf(name);
    const providers = kind.providersOf(rules);
    const members = [...kind.endpointMembers, ...SHARED_MEMBERS];
    const list = kind.defaultsOf ?? name;
    const served = kindOf(list).providersOf(rules);
    const endpointRules = { ...rules, providers, defaults: readDefaults(tops, list, served, members) };
    return (cursor, known) => kind.read(cursor, known, endpointRules, rules);
  });
}

const KINDS_WITH_DEFAULTS = KINDS.filter((kind) => kindOf(kind).defaultsOf === undefined);

function readDefaults(
  tops: readonly ObjectCursor[],
  kind: Kind,
  providers: readonly string[],
  names: readonly string[],
): Map<string, ObjectCursor> {
  const defaults = new Map<string, ObjectCursor>();
  for (const top of tops) {
    const byProvider = top
      .optional('defaults', (member) => member.object(KINDS_WITH_DEFAULTS))
      ?.optional(kind, (member) => member.object(providers));
    for (const provider of providers)
      byProvider?.optional(provider, (member) => {
        if (defaults.has(provider)) member.fail('appears twice');
        defaults.set(provider, member.object(names));
      });
  }
  return defaults;
}
