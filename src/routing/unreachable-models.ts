// The errors of calls that no endpoint can serve. A permanent condition is 404: clients repeat every 5xx, some for an hour
// (docs/contract.md#routing).
import { AppError } from '../domain/errors.js';
import { providerPrefix } from '../domain/providers/provider.js';
import type { ProviderPreferences } from '../domain/providers/provider-preferences.js';
import { findProvider } from '../providers/index.js';
import type { Provider } from '../providers/shared/provider.js';
import type { EndpointCaller } from './endpoints/endpoint-caller.js';
import type { Candidate } from './endpoints/endpoint-order.js';

/** A bare name must be known. The error does not repeat it: it may be anything, even a secret in the wrong member. */
export function rejectModelName(name: string, kind: 'embedding' | 'chat' | 'rerank' = 'embedding'): never {
  if (name.includes('/')) throw new AppError('not_found', { detail: `there is no ${kind} model ${name}` });
  throw new AppError('invalid_request', {
    detail: 'model: no model has this name; ids have the form vendor/model',
  });
}

/** The caller's preferences exclude every endpoint that could serve. */
export function noAllowedProviders(
  candidates: readonly Candidate[],
  { only, order, allowFallbacks }: ProviderPreferences,
): AppError {
  const available = candidates.map(({ target }) => target.provider.slug);
  const requested = only.length > 0 || allowFallbacks ? only : order;
  return new AppError('no_allowed_providers', {
    metadata: { available_providers: [...new Set(available)], requested_providers: requested },
  });
}

/** No provider of the model has a credential and an address, or the workspace requires an own key that is unusable. */
export function unconfiguredError(
  model: { readonly id: string },
  endpoints: readonly { readonly provider: string }[],
  caller: Pick<EndpointCaller, 'isConfigured' | 'hasAddress'>,
  /** The property that the endpoints lack. */
  wanted = '',
): AppError {
  const slugs = [...new Set(endpoints.map(({ provider }) => provider))];
  const providers = slugs.flatMap((slug) => findProvider(slug) ?? []);
  if (providers.some((provider) => caller.isConfigured(provider))) {
    return new AppError('no_allowed_providers', {
      detail:
        'the workspace requires an own provider key that cannot be read; replace it with PATCH /byok/{id}',
    });
  }
  const remedies = providers.map((provider) => remedyFor(provider, caller));
  return new AppError('not_found', {
    detail: `no provider of ${model.id} is configured${wanted}; the operator can set ${remedies.join(', or ')}`,
  });
}

/** The environment variables that the provider lacks. */
export function remedyFor(provider: Provider, caller: Pick<EndpointCaller, 'hasAddress'>): string {
  const prefix = providerPrefix(provider.slug);
  const variables = [
    ...(caller.hasAddress(provider) ? [] : [`${prefix}_BASE_URL`]),
    ...(provider.transport === 'http' && provider.needsApiKey ? [`${prefix}_API_KEY`] : []),
  ];
  return variables.join(' and ');
}
