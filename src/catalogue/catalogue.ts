// Finds models of one kind by the names that callers use for them.
import type { ChatModel } from '../domain/chat/chat-model.js';
import type { Sort } from '../domain/providers/provider-preferences.js';
import { AppError } from '../domain/errors.js';
import { endpointTag, idsOf } from './catalogue-model.js';
import type { CatalogueModel, NamedModel } from './catalogue-model.js';
import type { MovingAlias } from './moving-alias.js';
import type { RerankModel } from './rerank-model.js';
import type { UnlistedRule } from './unlisted-rule.js';

export interface FoundModel<Model extends NamedModel> {
  readonly model: Model;
  /** The order of endpoints that the variant of the name asks for; null: none. */
  readonly sort: Sort | null;
}

// Suffixes that every model takes (docs/contract.md#models). Other suffixes belong to names of their own.
const VARIANTS: Readonly<Record<string, Sort>> = { nitro: 'throughput', floor: 'price', exacto: 'exacto' };

export class ModelLookup<Model extends NamedModel> {
  /** Disabled ones as well. */
  private readonly models = new Map<string, Model>();
  /** By id and by every other id of the model. */
  private readonly byName = new Map<string, Model>();
  /** By ids without their vendor. */
  private readonly byBareName = new Map<string, Model | readonly Model[]>();
  /** The endpoints with each tag, or a tag that begins with it, in lower case: `bedrock`, `bedrock/eu`. */
  private readonly tags = new Map<string, number>();
  /** Every process lists these first, then those of changes by their ids, whatever it has loaded first. */
  private readonly positions: ReadonlyMap<string, number>;
  private isKnown = true;
  private newest = 0;
  /** In the order of lists; null: a change has come since. */
  private ordered: readonly Model[] | null;
  private enabled: readonly Model[] | null = null;

  constructor(models: readonly Model[]) {
    this.positions = new Map(models.map(({ id }, index) => [id, index]));
    // An id is never an alias of another model.
    for (const model of models) this.byName.set(model.id, model);
    for (const model of models) this.add(model);
    this.ordered = models;
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
    const model = this.models.get(id);
    return model?.disabled === true ? undefined : model;
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
    return this.tags.has(tag.toLowerCase());
  }

  /** Without disabled ones. */
  list(): readonly Model[] {
    this.enabled ??= this.listAll().filter(({ disabled }) => disabled !== true);
    return this.enabled;
  }

  listAll(): readonly Model[] {
    const position = ({ id }: Model): number => this.positions.get(id) ?? Number.POSITIVE_INFINITY;
    this.ordered ??= [...this.models.values()].toSorted(
      (one, other) => position(one) - position(other) || (one.id < other.id ? -1 : 1),
    );
    return this.ordered;
  }

  /** Applies from the next look-up on; a call in flight keeps the model that it was planned with. */
  update(changes: readonly { readonly id: string; readonly model: Model | null }[], version: number): void {
    this.newest = version;
    if (changes.length === 0) return;
    for (const { id } of changes) this.remove(this.models.get(id));
    for (const { model } of changes) if (model) this.add(model);
    this.ordered = null;
    this.enabled = null;
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
    return this.byName.get(name) ?? this.findBare(name);
  }

  /** A model in use goes before disabled ones. */
  private findBare(name: string): Model | undefined {
    const found = this.byBareName.get(name);
    if (found === undefined || 'id' in found) return found;
    const enabled = found.filter(({ disabled }) => disabled !== true);
    if (enabled.length <= 1) return enabled[0] ?? found[0];
    const ids = enabled.map(({ id }) => id).join(', ');
    throw new AppError('invalid_request', { detail: `model: ${name} is the name of several models: ${ids}` });
  }

  private add(model: Model): void {
    this.models.set(model.id, model);
    for (const name of idsOf(model)) {
      if (!this.byName.has(name)) this.byName.set(name, model);
      if (this.byName.get(name) !== model) continue;
      const bareName = bareNameOf(name);
      const others = this.bareNamed(bareName).filter((other) => other !== model);
      // Nearly all have one model: a list for each would be most of the index.
      this.byBareName.set(bareName, others.length === 0 ? model : [...others, model]);
    }
    for (const tag of tagsOf(model)) this.tags.set(tag, (this.tags.get(tag) ?? 0) + 1);
  }

  private remove(model: Model | undefined): void {
    if (!model) return;
    this.models.delete(model.id);
    for (const name of idsOf(model)) {
      if (this.byName.get(name) === model) this.byName.delete(name);
      const bareName = bareNameOf(name);
      const [first, ...others] = this.bareNamed(bareName).filter((other) => other !== model);
      if (!first) this.byBareName.delete(bareName);
      else this.byBareName.set(bareName, others.length === 0 ? first : [first, ...others]);
    }
    for (const tag of tagsOf(model)) {
      const left = (this.tags.get(tag) ?? 0) - 1;
      if (left > 0) this.tags.set(tag, left);
      else this.tags.delete(tag);
    }
  }

  private bareNamed(bareName: string): readonly Model[] {
    const found = this.byBareName.get(bareName) ?? [];
    return 'id' in found ? [found] : found;
  }
}

export class Catalogue extends ModelLookup<CatalogueModel> {}

export class RerankCatalogue extends ModelLookup<RerankModel> {}

export class AliasCatalogue extends ModelLookup<MovingAlias> {}

export class UnlistedCatalogue extends ModelLookup<UnlistedRule> {}

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

function bareNameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** `bedrock` and `bedrock/eu` for `bedrock/eu`, of each endpoint in use. */
function tagsOf({ endpoints, disabled }: NamedModel): string[] {
  return disabled === true ? [] : endpoints.flatMap((endpoint) => beginningsOf(endpointTag(endpoint)));
}

function beginningsOf(tag: string): string[] {
  const parts = tag.toLowerCase().split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}
