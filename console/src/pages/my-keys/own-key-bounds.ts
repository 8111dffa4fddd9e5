// The bounds of own keys beside the fields of a form.
import { ApiError } from '../../api/client';
import type { OwnKeyPolicy } from '../../api/own-keys';
import { memberProblem } from '../../api/problems';
import { formatAmount, formatCountOf } from '../../format';
import { windowName } from '../keys/key-limits';

/** `...: limit: must be at most 20` */
const BOUND = /: (limit|expires_at): (.+)$/s;

/** A bound that the key passes stands beside its field. */
export function namedBound(error: Error | null): Error | null {
  if (!(error instanceof ApiError) || error.status !== 403) return error;
  const [, member, problem] = BOUND.exec(error.message) ?? [];
  return member === undefined || problem === undefined ? error : memberProblem(member, problem);
}

/** `policy` undefined: the role has no bounds, or they are not known yet. */
export function limitHint(policy: OwnKeyPolicy | undefined): string | undefined {
  if (policy === undefined) return undefined;
  const window = windowName(policy.limit_reset);
  return policy.max_limit === null
    ? `Counts ${window}.`
    : `At most ${formatAmount(policy.max_limit)} ${window}.`;
}

export function limitPlaceholder(policy: OwnKeyPolicy | undefined): string {
  const limit = policy?.default_limit ?? policy?.max_limit ?? null;
  return limit === null ? 'No limit' : String(limit);
}

/** `absent`: the end of a key that names none, without bounds. */
export function expiryHint(policy: OwnKeyPolicy | undefined, absent: string): string {
  const days = policy?.max_days ?? null;
  return days === null
    ? `In your time zone. Empty: ${absent}.`
    : `In your time zone, within ${formatCountOf(days, 'day')}. Empty: the last of them.`;
}
