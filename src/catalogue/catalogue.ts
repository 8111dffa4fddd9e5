// Finds models of one kind by the names that callers use for them.
import type { ChatModel } from '../domain/chat/chat-model.js';
import type { Sort } from '../domain/providers/provider-preferences.js';
import { AppError } from '../domain/errors.js';
import { endpointTag, idsOf } from './catalogue-model.js';
import type { CatalogueModel, NamedModel } from './catalogue-model.js';
import type { RerankModel } from './rerank-model.js';

interface FoundModel<Model extends NamedModel> {
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
  readonly byBareName: ReadonlyMap<string, ReadonlySet<Model>>;
  /** The tags of all endpoints and their beginnings, in lower case: `bedrock`, `bedrock/eu`. */
  readonly tags: ReadonlySet<string>;
}

class ModelLookup<Model extends NamedModel> {
  private names: Names<Model>;

  constructor(models: readonly Model[]) {
    this.names = namesOf(models);
  }

  /**
   * By id, alias or bare name, each with or without a variant. Throws `invalid_request` for a bare name of several models.
   */
  find(name: string): FoundModel<Model> | undefined {
    const { byId } = this.names;
    const exact = byId.get(name) ?? this.findBare(name);
    if (exact) return { model: exact, sort: null };
    const separator = name.lastIndexOf(':');
    const variant = name.slice(separator + 1);
    if (separator < 0 || !Object.hasOwn(VARIANTS, variant)) return undefined;
    const base = name.slice(0, separator);
    const model = byId.get(base) ?? this.findBare(base);
    return model && { model, sort: VARIANTS[variant] ?? null };
  }

  /** Whether an endpoint of a model has this tag, or one that begins with it. */
  hasTag(tag: string): boolean {
    return this.names.tags.has(tag.toLowerCase());
  }

  list(): Model[] {
    return [...this.names.models.values()];
  }

  /** Applies from the next look-up on; a call in flight keeps the model that it was planned with. */
  replace(models: readonly Model[]): void {
    this.names = namesOf(models);
  }

  private findBare(name: string): Model | undefined {
    const [model, ...others] = this.names.byBareName.get(name) ?? [];
    if (others.length === 0) return model;
    const ids = [model, ...others].map((one) => one?.id).join(', ');
    throw new AppError('invalid_request', { detail: `model: ${name} is the name of several models: ${ids}` });
  }
}

/** The embedding models. */
export class Catalogue extends ModelLookup<CatalogueModel> {}

export class RerankCatalogue extends ModelLookup<RerankModel> {}

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

function namesOf<Model extends NamedModel>(models: readonly Model[]): Names<Model> {
  const byId = new Map<string, Model>();
  const byBareName = new Map<string, Set<Model>>();
  // An id is never an alias of another model.
  for (const model of models) byId.set(model.id, model);
  for (const model of models) {
    for (const id of idsOf(model)) {
      if (!byId.has(id)) byId.set(id, model);
      if (byId.get(id) !== model) continue;
      const bareName = id.slice(id.indexOf('/') + 1);
      const named = byBareName.get(bareName) ?? new Set();
      byBareName.set(bareName, named.add(model));
    }
  }
  const tags = new Set(models.flatMap(({ endpoints }) => endpoints.flatMap(beginningsOfTag)));
  return { models: new Map(models.map((model) => [model.id, model])), byId, byBareName, tags };
}

function beginningsOfTag(endpoint: NamedModel['endpoints'][number]): string[] {
  const parts = endpointTag(endpoint).toLowerCase().split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}
