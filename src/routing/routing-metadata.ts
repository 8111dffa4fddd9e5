// Builds the routing metadata that a caller may see.
import type { GuardrailHit } from '../domain/guardrails/guardrail-hit.js';
import type { RoutingMetadata } from '../domain/providers/routing-metadata.js';
import type { RoutedCall } from './routed-call.js';
import type { ServingTarget } from './endpoint-target.js';

/** The progress of a call; null for stages that it has not reached. */
export interface RoutingProgress {
  readonly route: { readonly targets: readonly ServingTarget[] } | null;
  readonly routed:
    | (Pick<RoutedCall, 'attempts' | 'passedOver' | 'error'> & {
        readonly served: readonly {
          readonly target: ServingTarget;
          readonly droppedMembers?: readonly string[];
        }[];
      })
    | null;
  /** Milliseconds. */
  readonly durationMs: number | null;
}

/** Names, statuses and numbers only: no part of a credential or of a provider's text. */
export function describeRouting(
  requested: string,
  { route, routed, durationMs }: RoutingProgress,
  hits: readonly GuardrailHit[] = [],
): RoutingMetadata {
  const targets = route?.targets ?? [];
  const served = routed?.served ?? [];
  const servedTargets = new Set(served.map(({ target }) => target));
  const servedEndpoints = new Set([...servedTargets].map(({ endpoint }) => endpoint));
  // An endpoint may occur twice: with an own key and with the operator's.
  const byEndpoint = new Map(targets.map((target) => [target.endpoint, target]));
  const names = new Map(targets.map(({ provider }) => [provider.slug, provider.name]));
  const endpoints = [...byEndpoint.values()].map(({ endpoint, provider, model }) => ({
    provider: provider.name,
    model: model.id,
    selected: servedEndpoints.has(endpoint),
  }));
  const attempts = (routed?.attempts ?? []).map(({ provider, status, model }) => ({
    provider: names.get(provider) ?? provider,
    model: model ?? targets[0]?.model.id ?? requested,
    status: status ?? 0,
  }));
  const [first] = targets;
  const isFirstEnough = [...servedTargets].every((target) => target === first);
  const hasTriedOthers = attempts.length > 0 && served.length === 0 && targets.length > 1;
  return {
    requested,
    strategy: isFirstEnough && !hasTriedOthers ? 'direct' : 'fallback',
    summary: summaryOf(endpoints, attempts.length),
    attempt: attempts.length,
    isByok:
      served.some(({ target }) => target.credential !== null) || routed?.error?.metadata['is_byok'] === true,
    endpoints,
    attempts,
    passedOver: routed?.passedOver ?? [],
    edits: [...new Set(served.flatMap(({ droppedMembers = [] }) => droppedMembers))],
    hits,
    generationTime: durationMs,
  };
}

function summaryOf(endpoints: RoutingMetadata['endpoints'], attempts: number): string {
  const selected = endpoints.filter((endpoint) => endpoint.selected).map(({ provider }) => provider);
  const names = selected.length === 0 ? 'none' : [...new Set(selected)].join(', ');
  return `available=${endpoints.length}, attempts=${attempts}, selected=${names}`;
}
