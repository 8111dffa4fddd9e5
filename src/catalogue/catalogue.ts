// Finds models by their id.
import type { CatalogueModel } from './catalogue-model.js';

export class Catalogue {
  private readonly models: ReadonlyMap<string, CatalogueModel>;

  constructor(models: readonly CatalogueModel[]) {
    this.models = new Map(models.map((model) => [model.id, model]));
  }

  find(id: string): CatalogueModel | undefined {
    return this.models.get(id);
  }
}
