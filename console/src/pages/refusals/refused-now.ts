// Whether the calls of a key are refused now, and by what. The amounts of a limit decide; another cause holds for minutes.
import { isExpired } from '../../api/keys';
import type { ApiKey, EffectiveLimit } from '../../api/keys';
import type { Refusal, RefusalReason } from '../../api/refusals';

export type RefusedNow =
  | {
      readonly kind: 'limit';
      readonly limit: EffectiveLimit;
      /** The highest cost of the newest refused call; null: it is not listed any more. */
      readonly needed: number | null;
      /** Of a chat without a token limit: the longest answer that fits, in tokens. Null: another call, or none fits. */
      readonly affordable: number | null;
      /** Enough is left, and calls in flight reserve it. */
      readonly isReserved: boolean;
    }
  | {
      readonly kind: 'other';
      readonly reason: RefusalReason;
      /** Of the response; null: the call is not listed any more. */
      readonly message: string | null;
    };

const RECENT_MS = 5 * 60_000;

type Judged = Pick<ApiKey, 'refusals' | 'effective_limit' | 'disabled' | 'expires_at'>;

/** `listed` are refused calls of the key, newest first. Null: calls are accepted, as far as it is known. */
export function refusedNow(key: Judged, listed: readonly Refusal[], now: number): RefusedNow | null {
  const { refusals, effective_limit: limit } = key;
  if (refusals === null || key.disabled || isExpired(key, now)) return null;
  const { since, last_at: lastAt, last_reason: reason } = refusals;
  // The day of the counts: an older amount says nothing about the calls of today.
  const shortfall = listed.find(({ needed_usd: needed, created_at: at }) => needed !== null && at >= since);
  const needed = shortfall?.needed_usd ?? null;
  const affordable = shortfall?.affordable_output_tokens || null;
  const isOfLimit = shortfall !== undefined || reason.endsWith('_limit');
  if (limit !== null && isOfLimit && (limit.remaining_usd <= 0 || limit.remaining_usd < (needed ?? 0)))
    return { kind: 'limit', limit, needed, affordable, isReserved: false };
  if (now - Date.parse(lastAt) > RECENT_MS) return null;
  const [newest] = listed;
  if (!reason.endsWith('_limit') || (newest?.reason === 'key_limit' && newest.needed_usd === null))
    return { kind: 'other', reason, message: newest?.reason === reason ? newest.message : null };
  return limit !== null && shortfall !== undefined && isSameLimit(shortfall, limit, now)
    ? { kind: 'limit', limit, needed, affordable, isReserved: true }
    : null;
}

/** Not raised, replaced or reset since it refused the call. */
function isSameLimit(refusal: Refusal, limit: EffectiveLimit, now: number): boolean {
  return (
    refusal.reason === reasonOf(limit) &&
    refusal.limit_window === limit.limit_window &&
    refusal.limit_usd === limit.limit_usd &&
    (refusal.resets_at === null || Date.parse(refusal.resets_at) > now)
  );
}

/** The reason of calls that a limit refuses. */
export function reasonOf({ limit_source: source }: EffectiveLimit): RefusalReason {
  return source === 'guardrail' ? 'guardrail' : `${source}_limit`;
}

const DIGITS = 2;

/** Rounded down to two digits: the next prompt may be a little longer. */
export function suggestedTokens(affordable: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(affordable)) + 1 - DIGITS);
  return Math.floor(affordable / unit) * unit;
}

const ROOM = 10;

/** Twice what is spent or allowed, and room for ten calls like the refused one, rounded up to two digits. */
export function suggestedLimit(
  { limit_usd: limit, spend_usd: spend }: EffectiveLimit,
  needed: number,
): number {
  const least = Math.max(2 * limit, 2 * spend, spend + ROOM * needed);
  if (least === 0) return 1;
  const unit = 10 ** (Math.floor(Math.log10(least)) + 1 - DIGITS);
  // Without the noise of the division, which would round up once more.
  return Number((Math.ceil(Number((least / unit).toFixed(6))) * unit).toPrecision(DIGITS + 1));
}
