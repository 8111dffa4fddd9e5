// A provider that answers at the operator's address, but not as the API that is expected there.
import { isRerankEndpoint } from '../../catalogue/rerank-model.js';
import { isChatEndpoint } from '../../domain/chat/chat-model.js';
import { providerPrefix } from '../../domain/providers/provider.js';
import type { ServingTarget } from '../endpoint-target.js';

export interface AddressProblem {
  /** The provider's slug. */
  readonly provider: string;
  /** The variable that has the address. */
  readonly variable: string;
  /** The provider's status; null: its certificate does not hold. */
  readonly status: number | null;
  /** For the caller, the log and the operator. */
  readonly text: string;
}

function operationAt(endpoint: ServingTarget['endpoint']): string {
  if (isChatEndpoint(endpoint)) return 'chat completions';
  if (!isRerankEndpoint(endpoint)) return 'embeddings';
  const { rerankPath } = endpoint;
  return rerankPath === undefined ? 'rerank' : `rerank at ${rerankPath}`;
}

/** `found`: what came instead of an answer, where it is no status. */
export function addressProblem(
  { provider, endpoint }: Pick<ServingTarget, 'provider' | 'endpoint'>,
  status: number | null,
  found: string,
): AddressProblem {
  const variable = `${providerPrefix(provider.slug)}_BASE_URL`;
  const operation = operationAt(endpoint);
  const shown = status === null ? found : `HTTP ${status}`;
  const text = `${provider.name} serves no ${operation} at the address in ${variable} (${shown})`;
  return { provider: provider.slug, variable, status, text };
}
