// Resolves the provider names in a caller's preferences (docs/contract.md#provider-preferences).
import { AppError } from '../domain/errors.js';
import type { ProviderPreferences } from '../domain/embeddings/provider-preferences.js';
import { canonicalEndpointTag } from '../providers/index.js';

const NAME_LISTS = ['only', 'order', 'ignore'] as const;
// Longer names are cut in error texts.
const MAX_SHOWN_LENGTH = 100;

/**
 * The preferences with the providers' own slugs. Throws `invalid_request` for a name that no provider has: an exclusion
 * that is silently ignored would send inputs to a provider that the caller has ruled out.
 */
export function withOwnSlugs(preferences: ProviderPreferences): ProviderPreferences {
  if (NAME_LISTS.every((list) => preferences[list].length === 0)) return preferences;
  const [only, order, ignore] = NAME_LISTS.map((list) =>
    preferences[list].map((name, index) => canonicalEndpointTag(name) ?? rejectName(list, index, name)),
  ) as [string[], string[], string[]];
  return { ...preferences, only, order, ignore };
}

function rejectName(list: string, index: number, name: string): never {
  const shown = name.slice(0, MAX_SHOWN_LENGTH).toWellFormed();
  throw new AppError('invalid_request', {
    detail: `provider.${list}[${index}]: no provider has the slug ${shown}; GET /api/v1/providers lists the slugs`,
  });
}
