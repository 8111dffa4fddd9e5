// Resolves the names of providers and endpoints in a caller's preferences (docs/contract.md#provider-preferences).
import { Injectable } from '@nestjs/common';
import { Catalogue, ChatCatalogue, RerankCatalogue } from '../catalogue/catalogue.js';
import { AppError } from '../domain/errors.js';
import type { ProviderPreferences } from '../domain/providers/provider-preferences.js';
import { canonicalEndpointTag } from '../providers/index.js';

const NAME_LISTS = ['only', 'order', 'ignore'] as const;
// Longer names are cut in error texts.
const MAX_SHOWN_LENGTH = 100;

@Injectable()
export class ProviderNames {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly chatCatalogue: ChatCatalogue,
    private readonly rerankCatalogue: RerankCatalogue,
  ) {}

  /**
   * The preferences with the providers' own slugs. Throws `invalid_request` for a slug that no provider has and for a tag
   * that no endpoint of any model has: an exclusion that is silently ignored would send inputs to a provider or a region
   * that the caller has ruled out.
   */
  resolve(preferences: ProviderPreferences): ProviderPreferences {
    if (NAME_LISTS.every((list) => preferences[list].length === 0)) return preferences;
    const [only, order, ignore] = NAME_LISTS.map((list) =>
      preferences[list].map((name, index) => this.resolveName(name, `provider.${list}[${index}]`)),
    ) as [string[], string[], string[]];
    return { ...preferences, only, order, ignore };
  }

  /** `path` is the place of the name in the body. */
  resolveName(name: string, path: string): string {
    const tag = canonicalEndpointTag(name);
    const shown = name.slice(0, MAX_SHOWN_LENGTH).toWellFormed();
    if (tag === undefined)
      reject(path, `no provider has the slug ${shown}; GET /api/v1/providers lists the slugs`);
    const [slug = '', ...variant] = tag.split('/');
    const catalogues = [this.catalogue, this.chatCatalogue, this.rerankCatalogue];
    const hasEndpoint = variant.length === 0 || catalogues.some((catalogue) => catalogue.hasTag(tag));
    if (!hasEndpoint)
      reject(
        path,
        `no endpoint has the tag ${shown}; use a tag of the model's list of endpoints, or ${slug}`,
      );
    return tag;
  }
}

function reject(path: string, problem: string): never {
  throw new AppError('invalid_request', { detail: `${path}: ${problem}` });
}
