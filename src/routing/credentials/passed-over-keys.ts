// The own provider keys of a call that the operator's credential replaced: their owner pays for it here, and would
// not see it otherwise (docs/contract.md#provider-credentials).
import type { PassedOverKey, PassedOverReason } from '../../domain/providers/routing-metadata.js';
import type { FailureClass } from '../failures/failure-classes.js';
import type { ServingTarget } from '../endpoint-target.js';
import type { CallCredentials } from './call-credentials.js';

const REASONS: Readonly<Partial<Record<FailureClass, PassedOverReason>>> = {
  account: 'used_up',
  credential: 'refused',
  forbidden: 'refused',
  rate_limited: 'rate_limited',
  unsupported: 'unsupported',
  context_length: 'unsupported',
  too_large: 'unsupported',
};

const NONE: readonly PassedOverKey[] = [];

/** Keys that are meant as fallbacks are passed over by intention, and not listed. */
export function passedOverKeys({
  targets,
  served,
  credentials,
}: {
  readonly targets: readonly ServingTarget[];
  readonly served: readonly { readonly target: ServingTarget }[];
  readonly credentials: CallCredentials;
}): readonly PassedOverKey[] {
  if (targets.every(({ credential }) => credential === null || credential.isFallback)) return NONE;
  if (served.every(({ target }) => target.credential !== null)) return NONE;
  const serving = new Set(served.map(({ target }) => target.credential?.id));
  const reasons = new Map<string, PassedOverKey>();
  for (const target of targets) {
    const { credential, provider } = target;
    if (credential === null || credential.isFallback || reasons.has(credential.id)) continue;
    const failure = credentials.failureOf(target);
    // It serves other parts of the call.
    if (failure === null && serving.has(credential.id)) continue;
    const reason = (failure && REASONS[failure]) ?? 'unavailable';
    reasons.set(credential.id, { provider: provider.slug, reason });
  }
  return [...reasons.values()];
}
