// The kinds of models, and of names for them. Each is a list of a catalogue; everything that concerns all of them walks this
// table.
import type { ChatModel } from '../../domain/chat/chat-model.js';
import type { ModelFamilies } from '../../domain/providers/provider.js';
import type { CatalogueModel } from '../catalogue-model.js';
import type { MovingAlias } from '../moving-alias.js';
import type { RerankModel } from '../rerank-model.js';
import type { UnlistedRule } from '../unlisted-rule.js';
import { CHAT_ENDPOINT_MEMBERS, readChatModel } from './chat-models.js';
import type { Cursor } from './cursor.js';
import { EMBEDDING_ENDPOINT_MEMBERS, readEmbeddingModel } from './embedding-models.js';
import type { EndpointRules, KnownModels } from './members.js';
import { readMovingAlias } from './moving-aliases.js';
import { RERANK_ENDPOINT_MEMBERS, readRerankModel } from './rerank-models.js';
import type { RerankProviderRules } from './rerank-models.js';
import { readUnlistedRule } from './unlisted-rules.js';

export interface CatalogueContents {
  readonly models: readonly CatalogueModel[];
  readonly chatModels: readonly ChatModel[];
  readonly rerankModels: readonly RerankModel[];
  readonly movingAliases: readonly MovingAlias[];
  readonly unlisted: readonly UnlistedRule[];
}

export interface CatalogueRules extends Pick<
  EndpointRules,
  'providers' | 'closedProviders' | 'canonicalTag' | 'chatWires'
> {
  /** Providers that serve one model and ignore the requested name. */
  readonly oneModelProviders: readonly string[];
  /** By provider, for those whose models differ in their bodies. */
  readonly families: ReadonlyMap<string, ModelFamilies>;
  /** Providers with chat models that list them. */
  readonly discovered: readonly string[];
  /** By provider, for those that rerank. */
  readonly rerank: ReadonlyMap<string, RerankProviderRules>;
}

export type AnyModel = CatalogueModel | ChatModel | RerankModel | MovingAlias | UnlistedRule;

/** Parameters are those of one kind, which each caller takes from the list of that kind. */
interface ModelKind {
  /** In messages. */
  readonly noun: string;
  readonly member: keyof CatalogueContents;
  readonly endpointMembers: readonly string[];
  /** The list whose `defaults` its endpoints have; absent: its own. */
  readonly defaultsOf?: 'chat_models';
  /** The slugs of the providers that serve it. */
  providersOf(rules: CatalogueRules): readonly string[];
  /** `known`: the models below, by id. */
  read(
    cursor: Cursor,
    known: KnownModels<AnyModel>,
    endpointRules: EndpointRules,
    rules: CatalogueRules,
  ): AnyModel;
}

/** By the name of the list. */
const MODEL_KINDS = {
  models: {
    noun: 'an embedding model',
    member: 'models',
    endpointMembers: EMBEDDING_ENDPOINT_MEMBERS,
    providersOf: ({ providers }) => providers,
    read: (cursor, known: KnownModels<CatalogueModel>, endpointRules, { families }) =>
      readEmbeddingModel(cursor, known, endpointRules, families),
  },
  chat_models: {
    noun: 'a chat model',
    member: 'chatModels',
    endpointMembers: CHAT_ENDPOINT_MEMBERS,
    providersOf: ({ chatWires }) => [...chatWires.keys()],
    read: (cursor, known: KnownModels<ChatModel>, endpointRules) =>
      readChatModel(cursor, known, endpointRules),
  },
  rerank_models: {
    noun: 'a rerank model',
    member: 'rerankModels',
    endpointMembers: RERANK_ENDPOINT_MEMBERS,
    providersOf: ({ rerank }) => [...rerank.keys()],
    read: (cursor, known: KnownModels<RerankModel>, endpointRules, { rerank }) =>
      readRerankModel(cursor, known, endpointRules, rerank),
  },
  moving_aliases: {
    noun: 'a moving alias',
    member: 'movingAliases',
    endpointMembers: [],
    providersOf: () => [],
    read: (cursor, known: KnownModels<MovingAlias>) => readMovingAlias(cursor, known),
  },
  unlisted: {
    noun: 'a rule of unlisted models',
    member: 'unlisted',
    endpointMembers: CHAT_ENDPOINT_MEMBERS,
    defaultsOf: 'chat_models',
    providersOf: ({ discovered }) => discovered,
    read: (cursor, known: KnownModels<UnlistedRule>, endpointRules) =>
      readUnlistedRule(cursor, known, endpointRules),
  },
} as const satisfies Readonly<Record<string, ModelKind>>;

/** The name of the list of a catalogue. */
export type Kind = keyof typeof MODEL_KINDS;
export const KINDS = Object.keys(MODEL_KINDS) as readonly Kind[];

export function kindOf(kind: Kind): ModelKind {
  return MODEL_KINDS[kind];
}

export function byKind<Value>(make: (kind: Kind) => Value): Readonly<Record<Kind, Value>> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, Value>;
}

export function modelsOf(contents: CatalogueContents, kind: Kind): readonly AnyModel[] {
  return contents[MODEL_KINDS[kind].member];
}

/** `list` returns the models of the kind. */
export function contentsOf(list: (kind: Kind) => readonly AnyModel[]): CatalogueContents {
  const entries = KINDS.map((kind) => [MODEL_KINDS[kind].member, list(kind)] as const);
  return Object.fromEntries(entries) as unknown as CatalogueContents;
}
