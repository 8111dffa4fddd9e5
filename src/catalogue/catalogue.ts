// The embedding models.
import type { CatalogueModel } from './catalogue-model.js';
import { ModelLookup } from './model-lookup.js';

export class Catalogue extends ModelLookup<CatalogueModel> {}
