// The models of a catalogue by all of their names. A change reads the names that it concerns: its cost does not grow with the
// catalogue.
import { idsOf } from '../catalogue-model.js';
import type { Cursor } from './cursor.js';
import { rejectSecondModel } from './embedding-models.js';
import { byKind, contentsOf, kindOf, KINDS, modelsOf } from './kinds.js';
import type { AnyModel, CatalogueContents, CatalogueRules, Kind } from './kinds.js';

/** A model that a layer adds, changes or ends. */
export interface StatedModel {
  readonly kind: Kind;
  readonly id: string;
  /** Null: it ends. */
  readonly model: AnyModel | null;
  /** Its place, for errors. */
  readonly cursor: Cursor;
}

/** A model after a change. */
export interface ChangedModel extends Pick<StatedModel, 'kind' | 'id'> {
  /** As its layer states it; null: it is gone. */
  readonly stated: AnyModel | null;
  /** Without aliases that are the id of another model. */
  readonly model: AnyModel | null;
}

/** The right of a model to its names. */
interface Claim {
  readonly kind: Kind;
  readonly model: AnyModel;
}

type Changes = Readonly<Record<Kind, ReadonlyMap<string, StatedModel>>>;

export class ModelIndex {
  private readonly models = byKind(() => new Map<string, AnyModel>());
  /** By name. Nearly all have one claim: a list for each would be most of the index. */
  private readonly claims = new Map<string, Claim | readonly Claim[]>();
  /** Of models at providers that serve one. */
  private readonly onlyModels = new Set<Claim>();

  constructor(
    contents: CatalogueContents,
    private readonly oneModelProviders: CatalogueRules['oneModelProviders'],
  ) {
    for (const kind of KINDS)
      for (const model of modelsOf(contents, kind)) this.set({ kind, id: model.id, stated: model, model });
  }

  /** In the order in which they came. */
  get contents(): CatalogueContents {
    return contentsOf((kind) => [...this.models[kind].values()]);
  }

  /** As its layer states it. */
  stated(kind: Kind, id: string): AnyModel | undefined {
    return this.claimOf(kind, id)?.model;
  }

  /** The model that answers to the name. */
  ownerOf(name: string): Owner | undefined {
    const claims = this.claimsOn(name);
    const { kind, model } = claims.find((claim) => claim.model.id === name) ?? claims[0] ?? {};
    return kind && model && { kind, id: model.id };
  }

  /**
   * All models that differ afterwards; nothing changes yet. Throws CatalogueError of a changed model: for a name of two models,
   * and for a second model of a provider that serves one. A changed model may have an id that is an alias of another one, which
   * loses the alias.
   */
  check(changes: readonly StatedModel[]): ChangedModel[] {
    const changed: Changes = byKind(
      (wanted) =>
        new Map(changes.flatMap((change) => (change.kind === wanted ? [[change.id, change] as const] : []))),
    );
    this.rejectSecondModels(changes, changed);
    const others = new Set<Claim>();
    for (const claim of this.losersOf(changes, changed)) others.add(claim);
    return [
      ...changes.map(({ kind, id, model }) => ({
        kind,
        id,
        stated: model,
        model: model && this.withoutTakenNames(kind, model, changed),
      })),
      ...[...others].map(({ kind, model }) => ({
        kind,
        id: model.id,
        stated: model,
        model: this.withoutTakenNames(kind, model, changed),
      })),
    ];
  }

  apply(changed: readonly ChangedModel[]): void {
    for (const change of changed) this.remove(change);
    for (const change of changed) this.set(change);
  }

  /** Models that lose an alias to a changed one, or get it back. */
  private *losersOf(changes: readonly StatedModel[], changed: Changes): Generator<Claim> {
    const claimants = new Map<string, StatedModel[]>();
    for (const change of changes)
      for (const name of change.model ? idsOf(change.model) : [])
        claimants.set(name, [...(claimants.get(name) ?? []), change]);
    for (const change of changes) {
      const { id, model } = change;
      for (const name of model ? idsOf(model) : [id]) {
        for (const other of model ? (claimants.get(name) ?? []) : [])
          if (other !== change && !takesAlias(change, name, other)) failFor(change, name, other);
        for (const claim of this.claimsOn(name)) {
          const other = { kind: claim.kind, id: claim.model.id };
          if (changed[other.kind].has(other.id)) continue;
          if (takesAlias(change, name, other)) yield claim;
          else if (model) failFor(change, name, other);
        }
      }
    }
  }

  /** A server of one model has it for every kind. */
  private rejectSecondModels(changes: readonly StatedModel[], changed: Changes): void {
    const onlyModels = new Map<string, string>();
    for (const { kind, model } of this.onlyModels)
      if (!changed[kind].has(model.id))
        for (const { provider, upstreamModel } of model.endpoints)
          if (this.oneModelProviders.includes(provider)) onlyModels.set(provider, upstreamModel);
    for (const { model, cursor } of changes)
      if (model) rejectSecondModel(cursor, model, onlyModels, this.oneModelProviders);
  }

  private withoutTakenNames(kind: Kind, model: AnyModel, changed: Changes): AnyModel {
    const isTaken = (name: string): boolean => {
      if (name === model.id) return false;
      const change = changed[kind].get(name);
      return change ? change.model !== null : this.models[kind].has(name);
    };
    const { canonicalSlug, aliases } = model as { canonicalSlug?: string; aliases?: readonly string[] };
    if (!idsOf(model).some(isTaken)) return model;
    return {
      ...model,
      ...(canonicalSlug !== undefined && isTaken(canonicalSlug) && { canonicalSlug: model.id }),
      ...(aliases && { aliases: aliases.filter((alias) => !isTaken(alias)) }),
    };
  }

  private remove({ kind, id, stated }: ChangedModel): void {
    const claim = this.claimOf(kind, id);
    if (!claim) return;
    this.onlyModels.delete(claim);
    for (const name of idsOf(claim.model)) {
      const [first, ...others] = this.claimsOn(name).filter((other) => other !== claim);
      if (!first) this.claims.delete(name);
      else this.claims.set(name, others.length === 0 ? first : [first, ...others]);
    }
    // One that stays keeps its place in the order.
    if (stated === null) this.models[kind].delete(id);
  }

  private set({ kind, id, stated, model }: ChangedModel): void {
    if (stated === null || model === null) return;
    this.models[kind].set(id, model);
    const claim = { kind, model: stated };
    for (const name of idsOf(stated)) {
      const others = this.claimsOn(name);
      this.claims.set(name, others.length === 0 ? claim : [...others, claim]);
    }
    if (stated.endpoints.some(({ provider }) => this.oneModelProviders.includes(provider)))
      this.onlyModels.add(claim);
  }

  private claimOf(kind: Kind, id: string): Claim | undefined {
    return this.claimsOn(id).find((claim) => claim.kind === kind && claim.model.id === id);
  }

  private claimsOn(name: string): readonly Claim[] {
    const claims = this.claims.get(name) ?? [];
    return 'kind' in claims ? [claims] : claims;
  }
}

type Owner = Pick<StatedModel, 'kind' | 'id'>;

/** The id of a model is stronger than an alias of another one of its list. */
function takesAlias({ kind, id }: Owner, name: string, other: Owner): boolean {
  return other.kind === kind && name === id && other.id !== id;
}

function failFor({ kind, id, cursor }: StatedModel, name: string, other: Owner): never {
  return cursor.fail(
    other.kind === kind
      ? `${name} names ${other.id} and ${id}`
      : // GET /models/{author}/{slug} finds one model.
        `${name} names ${kindOf(other.kind).noun} and ${kindOf(kind).noun}`,
  );
}
