// Finds models of one kind by the names that callers use for them.
import type { ChatModel } from '../domain/chat/chat-model.js';
import type { Sort } from '../domain/providers/provider-preferences.js';
import { AppError } from '../domain/errors.js';
import { endpointTag, idsOf } from './catalogue-model.js';
import type { CatalogueModel, NamedModel } from './catalogue-model.js';
import type { MovingAlias } from './moving-alias.js';
import type { RerankModel } from './rerank-model.js';

export interface FoundModel<Model extends NamedModel> {
  readonly model: Model;
  /** The order of endpoints that the variant of the name asks for; null: none. */
  readonly sort: Sort | null;
}

// Suffixes that every model takes (docs/contract.md#models). Other suffixes belong to names of their own.
const VARIANTS: Readonly<Record<string, Sort>> = { nitro: 'throughput', floor: 'price', exacto: 'exacto' };

interface Names<Model> {
  /** By id. */
  readonly models: ReadonlyMap<string, Model>;
  /** By id and by every other id of the model. */
  readonly byId: ReadonlyMap<string, Model>;
  /** By ids without their vendor. */
  readonly byBareName: ReadonlyMap<string, Model | readonly Model[]>;
  /** The tags of all endpoints and their beginnings, in lower case: `bedrock`, `bedrock/eu`. */
  readonly tags: ReadonlySet<string>;
  /** The models that no call may name, by every name. */
  readonly disabled: ReadonlyMap<string, Model>;
}

export class ModelLookup<Model extends NamedModel> {
  private names: Names<Model>;
  private isKnown = true;
  private newest = 0;

  constructor(models: readonly Model[]) {
    this.names = namesOf(models);
  }

  /**
   * By id, alias or bare name, each with or without a variant. Throws `invalid_request` for a bare name of several models, and
   * `not_found` for a disabled one.
   */
  find(name: string): FoundModel<Model> | undefined {
    if (!this.isKnown) throw new AppError('unavailable', { detail: 'the catalogue is not loaded yet' });
    const found = this.findAny(name);
    if (found?.model.disabled === true)
      throw new AppError('not_found', { detail: `the model ${found.model.id} is disabled by the operator` });
    return found;
  }

  /** By its id alone, without disabled ones. */
  get(id: string): Model | undefined {
    return this.names.models.get(id);
  }

  /** The newest stored revision among the models that the same step finds; 0: none. */
  get version(): number {
    return this.newest;
  }

  /** For lists and filters of what is stored: of a disabled model as well. */
  idOf(name: string): string | undefined {
    return this.findAny(name)?.model.id;
  }

  /** Whether an endpoint of a model has this tag, or one that begins with it. */
  hasTag(tag: string): boolean {
    return this.names.tags.has(tag.toLowerCase());
  }

  /** Without disabled ones. */
  list(): Model[] {
    return [...this.names.models.values()];
  }

  /** Applies from the next look-up on; a call in flight keeps the model that it was planned with. */
  replace(models: readonly Model[], version = 0): void {
    this.names = namesOf(models);
    this.newest = version;
  }

  /** Calls are rejected with 503 while stored prices are not known. */
  serve(isKnown: boolean): void {
    this.isKnown = isKnown;
  }

  private findAny(name: string): FoundModel<Model> | undefined {
    const exact = this.named(name);
    if (exact) return { model: exact, sort: null };
    const separator = name.lastIndexOf(':');
    const variant = name.slice(separator + 1);
    if (separator < 0 || !Object.hasOwn(VARIANTS, variant)) return undefined;
    const model = this.named(name.slice(0, separator));
    return model && { model, sort: VARIANTS[variant] ?? null };
  }

  private named(name: string): Model | undefined {
    return this.names.byId.get(name) ?? this.findBare(name) ?? this.names.disabled.get(name);
  }

  private findBare(name: string): Model | undefined {
    const found = this.names.byBareName.get(name);
    if (!Array.isArray(found)) return found as Model | undefined;
    const ids = (found as readonly Model[]).map(({ id }) => id).join(', ');
    throw new AppError('invalid_request', { detail: `model: ${name} is the name of several models: ${ids}` });
  }
}

/** The embedding models. */
export class Catalogue extends ModelLookup<CatalogueModel> {}

export class RerankCatalogue extends ModelLookup<RerankModel> {}

export class AliasCatalogue extends ModelLookup<MovingAlias> {}

export class ChatCatalogue extends ModelLookup<ChatModel> {
  override find(name: string): FoundModel<ChatModel> | undefined {
    const found = super.find(name);
    // It stands for a plugin that would put other text into the prompt.
    if (!found && name.endsWith(':online'))
      throw new AppError('invalid_request', {
        detail: 'model: the variant :online is not supported; this service never edits a prompt',
      });
    return found;
  }
}

function namesOf<Model extends NamedModel>(all: readonly Model[]): Names<Model> {
  const models = all.filter(({ disabled }) => disabled !== true);
  const byId = new Map<string, Model>();
  const byBareName = new Map<string, Model | Model[]>();
  const tags = new Set<string>();
  // An id is never an alias of another model.
  for (const model of models) byId.set(model.id, model);
  for (const model of models) {
    for (const id of idsOf(model)) {
      if (!byId.has(id)) byId.set(id, model);
      if (byId.get(id) === model) addBareName(byBareName, id.slice(id.indexOf('/') + 1), model);
    }
    for (const endpoint of model.endpoints) tags.add(endpointTag(endpoint));
  }
  const disabled = new Map<string, Model>();
  for (const model of all)
    if (model.disabled === true)
      for (const id of idsOf(model)) disabled.set(id, model).set(id.slice(id.indexOf('/') + 1), model);
  return {
    models: new Map(models.map((model) => [model.id, model])),
    byId,
    byBareName,
    tags: new Set([...tags].flatMap(beginningsOfTag)),
    disabled,
  };
}

/** Thousands of models have one name each: a list for every one would be most of the index. */
function addBareName<Model>(byBareName: Map<string, Model | Model[]>, name: string, model: Model): void {
  const named = byBareName.get(name);
  if (named === undefined) byBareName.set(name, model);
  else if (!Array.isArray(named)) {
    if (named !== model) byBareName.set(name, [named, model]);
  } else if (!named.includes(model)) named.push(model);
}

function beginningsOfTag(tag: string): string[] {
  const parts = tag.toLowerCase().split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}
