// Reads one layer of the catalogue: the shipped models, or the operator's file, which adds models to those and changes them.
import type { ChatModel } from '../../domain/chat/chat-model.js';
import type { ModelFamilies } from '../../domain/providers/provider.js';
import { idsOf } from '../catalogue-model.js';
import type { CatalogueModel, NamedModel } from '../catalogue-model.js';
import type { RerankModel } from '../rerank-model.js';
import { CHAT_ENDPOINT_MEMBERS, readChatModel } from './chat-models.js';
import type { Cursor, ObjectCursor } from './cursor.js';
import { EMBEDDING_ENDPOINT_MEMBERS, readEmbeddingModel, rejectSecondModel } from './embedding-models.js';
import { RERANK_ENDPOINT_MEMBERS, readRerankModel } from './rerank-models.js';
import type { RerankProviderRules } from './rerank-models.js';
import { SHARED_MEMBERS } from './members.js';
import type { EndpointRules } from './members.js';

export interface CatalogueContents {
  readonly models: readonly CatalogueModel[];
  readonly chatModels: readonly ChatModel[];
  readonly rerankModels: readonly RerankModel[];
}

export interface CatalogueRules extends Pick<
  EndpointRules,
  'providers' | 'closedProviders' | 'canonicalTag' | 'chatWires'
> {
  /** Providers that serve one model and ignore the requested name. */
  readonly oneModelProviders: readonly string[];
  /** By provider, for those whose models differ in their bodies. */
  readonly families: ReadonlyMap<string, ModelFamilies>;
  /** By provider, for those that rerank. */
  readonly rerank: ReadonlyMap<string, RerankProviderRules>;
}

const KINDS = ['models', 'chat_models', 'rerank_models'] as const;
type Kind = (typeof KINDS)[number];

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
  const tops = documents.map((document) => document.object(['defaults', ...KINDS]));
  const rulesOf = (kind: Kind, providers: readonly string[], names: readonly string[]): EndpointRules => ({
    ...rules,
    providers,
    defaults: readDefaults(tops, kind, providers, [...names, ...SHARED_MEMBERS]),
  });
  const embeddingRules = rulesOf('models', rules.providers, EMBEDDING_ENDPOINT_MEMBERS);
  const chatRules = rulesOf('chat_models', [...rules.chatWires.keys()], CHAT_ENDPOINT_MEMBERS);
  const onlyModels = new Map<string, string>();
  const embeddings = readModels(tops, 'models', below.models, (cursor, known) => {
    const model = readEmbeddingModel(cursor, known, embeddingRules, rules.families);
    rejectSecondModel(cursor, model, onlyModels, rules.oneModelProviders);
    return model;
  });
  const chats = readModels(tops, 'chat_models', below.chatModels, (cursor, known) =>
    readChatModel(cursor, known, chatRules),
  );
  const rerankRules = rulesOf('rerank_models', [...rules.rerank.keys()], RERANK_ENDPOINT_MEMBERS);
  const reranks = readModels(tops, 'rerank_models', below.rerankModels, (cursor, known) => {
    const model = readRerankModel(cursor, known, rerankRules, rules.rerank);
    rejectSecondModel(cursor, model, onlyModels, rules.oneModelProviders);
    return model;
  });
  rejectNamesOfTwoKinds([
    { kind: 'an embedding model', read: embeddings },
    { kind: 'a chat model', read: chats },
    { kind: 'a rerank model', read: reranks },
  ]);
  return { models: embeddings.models, chatModels: chats.models, rerankModels: reranks.models };
}

interface ReadModels<Model> {
  readonly models: readonly Model[];
  /** The models that the layer names, by id. */
  readonly named: ReadonlyMap<string, Cursor>;
}

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

function readModels<Model extends NamedModel>(
  tops: readonly ObjectCursor[],
  kind: Kind,
  below: readonly Model[],
  readModel: (cursor: Cursor, known: ReadonlyMap<string, Model>) => Model,
): ReadModels<Model> {
  const models = new Map(below.map((model) => [model.id, model]));
  const named = new Map<string, Cursor>();
  for (const cursor of tops.flatMap((top) => top.optional(kind, (list) => list.list()) ?? [])) {
    const model = readModel(cursor, models);
    if (named.has(model.id)) cursor.fail(`${model.id} appears twice`);
    named.set(model.id, cursor);
    models.set(model.id, model);
  }
  rejectSharedNames(models, named);
  return { models: [...models.values()].map((model) => withoutTakenNames(model, models)), named };
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

interface ModelsOfKind {
  readonly kind: string;
  readonly read: ReadModels<NamedModel>;
}

/** `GET /models/{author}/{slug}` finds one model. */
function rejectNamesOfTwoKinds(kinds: readonly ModelsOfKind[]): void {
  const owners = new Map<string, ModelsOfKind & { readonly id: string }>();
  for (const { kind, read } of kinds)
    for (const model of read.models)
      for (const name of idsOf(model)) {
        const owner = owners.get(name);
        if (owner === undefined) owners.set(name, { kind, read, id: model.id });
        else if (owner.kind !== kind) {
          const cursor = read.named.get(model.id) ?? owner.read.named.get(owner.id);
          cursor?.fail(`${name} names ${owner.kind} and ${kind}`);
        }
      }
}
