// Reads one layer of the catalogue over the layers below: the shipped models, the operator's file, or a model of a row.
import { idsOf } from '../catalogue-model.js';
import type { NamedModel } from '../catalogue-model.js';
import type { Cursor, ObjectCursor } from './cursor.js';
import { rejectSecondModel } from './embedding-models.js';
import { byKind, contentsOf, kindOf, KINDS, modelsOf } from './kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from './kinds.js';
import { SHARED_MEMBERS } from './members.js';

type ReadModel = (cursor: Cursor, known: ReadonlyMap<string, AnyModel>) => AnyModel;
export type ModelReaders = Readonly<Record<Kind, ReadModel>>;

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
  const tops = documents.map(readTop);
  const readers = readersOf(tops, rules);
  return checked(
    byKind((kind) => readModels(tops, kind, modelsOf(below, kind), readers[kind])),
    rules,
  );
}

/** Readers of single models. `documents` state the defaults of the endpoints that these add. */
export function modelReaders(documents: readonly Cursor[], rules: CatalogueRules): ModelReaders {
  return readersOf(documents.map(readTop), rules);
}

/** A layer that is read model by model. */
export interface LayerModels {
  readonly models: Readonly<Record<Kind, readonly AnyModel[]>>;
  /** Those that the layer adds or changes, by id. */
  readonly named: Readonly<Record<Kind, ReadonlyMap<string, Cursor>>>;
}

/**
 * Throws CatalogueError for a name of two models, and for a second model of a provider that serves one. Returns the models,
 * without aliases that are the id of another one.
 */
export function checkedLayer({ models, named }: LayerModels, rules: CatalogueRules): CatalogueContents {
  return checked(
    byKind((kind) => namedModels(models[kind], named[kind])),
    rules,
  );
}

function checked(read: ReadKinds, { oneModelProviders }: CatalogueRules): CatalogueContents {
  rejectSecondModels(read, oneModelProviders);
  rejectNamesOfTwoKinds(read);
  return contentsOf((kind) => read[kind].models);
}

function readTop(document: Cursor): ObjectCursor {
  return document.object(['defaults', ...KINDS]);
}

function readersOf(tops: readonly ObjectCursor[], rules: CatalogueRules): ModelReaders {
  return byKind((name) => {
    const kind = kindOf(name);
    const providers = kind.providersOf(rules);
    const members = [...kind.endpointMembers, ...SHARED_MEMBERS];
    const endpointRules = { ...rules, providers, defaults: readDefaults(tops, name, providers, members) };
    return (cursor, known) => kind.read(cursor, known, endpointRules, rules);
  });
}

interface ReadModels {
  readonly models: readonly AnyModel[];
  /** The models that the layer names, by id. */
  readonly named: ReadonlyMap<string, Cursor>;
}
type ReadKinds = Readonly<Record<Kind, ReadModels>>;

function readDefaults(
  tops: readonly ObjectCursor[],
  kind: Kind,
  providers: readonly string[],
  names: readonly string[],
): Map<string, ObjectCursor> {
  const defaults = new Map<string, ObjectCursor>();
  for (const top of tops) {
    const byProvider = top
      .optional('defaults', (member) => member.object(KINDS))
      ?.optional(kind, (member) => member.object(providers));
    for (const provider of providers)
      byProvider?.optional(provider, (member) => {
        if (defaults.has(provider)) member.fail('appears twice');
        defaults.set(provider, member.object(names));
      });
  }
  return defaults;
}

function readModels(
  tops: readonly ObjectCursor[],
  kind: Kind,
  below: readonly AnyModel[],
  readModel: ReadModel,
): ReadModels {
  const models = new Map(below.map((model) => [model.id, model]));
  const named = new Map<string, Cursor>();
  for (const cursor of tops.flatMap((top) => top.optional(kind, (list) => list.list()) ?? [])) {
    const model = readModel(cursor, models);
    if (named.has(model.id)) cursor.fail(`${model.id} appears twice`);
    named.set(model.id, cursor);
    models.set(model.id, model);
  }
  return namedModels([...models.values()], named);
}

function namedModels(all: readonly AnyModel[], named: ReadonlyMap<string, Cursor>): ReadModels {
  const models = new Map(all.map((model) => [model.id, model]));
  rejectSharedNames(models, named);
  return { models: all.map((model) => withoutTakenNames(model, models)), named };
}

/** Throws for a model of the layer. A server of one model has it for every kind. */
function rejectSecondModels(read: ReadKinds, oneModelProviders: readonly string[]): void {
  const onlyModels = new Map<string, string>();
  const named: { readonly cursor: Cursor; readonly model: AnyModel }[] = [];
  for (const kind of KINDS)
    for (const model of read[kind].models) {
      const cursor = read[kind].named.get(model.id);
      if (cursor) named.push({ cursor, model });
      else
        for (const { provider, upstreamModel } of model.endpoints)
          if (oneModelProviders.includes(provider)) onlyModels.set(provider, upstreamModel);
    }
  for (const { cursor, model } of named) rejectSecondModel(cursor, model, onlyModels, oneModelProviders);
}

/** Two models of the layer, or a model of the layer and one below, would answer to one name. */
function rejectSharedNames(
  models: ReadonlyMap<string, NamedModel>,
  named: ReadonlyMap<string, Cursor>,
): void {
  const owners = new Map<string, string>();
  for (const model of models.values()) {
    for (const name of idsOf(model)) {
      const owner = models.has(name) ? name : (owners.get(name) ?? model.id);
      if (owner !== model.id) named.get(model.id)?.fail(`${name} names ${owner} and ${model.id}`);
      // A model below may come later than the one of the layer that takes its alias.
      if (owner !== model.id && owner !== name)
        named.get(owner)?.fail(`${name} names ${owner} and ${model.id}`);
      owners.set(name, owner);
    }
  }
}

/** A model of the layer may have an id that is an alias below. */
function withoutTakenNames<Model extends NamedModel>(
  model: Model,
  models: ReadonlyMap<string, NamedModel>,
): Model {
  const { canonicalSlug, aliases } = model;
  const isTaken = (name: string): boolean => name !== model.id && models.has(name);
  if (!idsOf(model).some(isTaken)) return model;
  return {
    ...model,
    ...(canonicalSlug !== undefined && isTaken(canonicalSlug) && { canonicalSlug: model.id }),
    ...(aliases && { aliases: aliases.filter((alias) => !isTaken(alias)) }),
  };
}

/** `GET /models/{author}/{slug}` finds one model. */
function rejectNamesOfTwoKinds(read: ReadKinds): void {
  const owners = new Map<string, { readonly kind: Kind; readonly id: string }>();
  for (const kind of KINDS)
    for (const model of read[kind].models)
      for (const name of idsOf(model)) {
        const owner = owners.get(name);
        if (owner === undefined) owners.set(name, { kind, id: model.id });
        else if (owner.kind !== kind) {
          const cursor = read[kind].named.get(model.id) ?? read[owner.kind].named.get(owner.id);
          cursor?.fail(`${name} names ${kindOf(owner.kind).noun} and ${kindOf(kind).noun}`);
        }
      }
}
