// Finds models by id.
import type { CatalogueModel } from './catalogue-model.js';

export class Catalogue {
  private models: ReadonlyMap<string, CatalogueModel>;

  constructor(models: readonly CatalogueModel[]) {
    this.models = byId(models);
  }

  find(id: string): CatalogueModel | undefined {
    return this.models.get(id);
  }

  list(): CatalogueModel[] {
    return [...this.models.values()];
  }

  /** Applies from the next look-up on; a call in flight keeps the model that it was planned with. */
  replace(models: readonly CatalogueModel[]): void {
    this.models = byId(models);
  }
}

function byId(models: readonly CatalogueModel[]): ReadonlyMap<string, CatalogueModel> {
  return new Map(models.map((model) => [model.id, model]));
}
