// Values of a key that the list and the page of one key show alike.
import { isExpired } from '../../api/keys';
import type { ApiKey, CurrentKey } from '../../api/keys';
import type { Refusal } from '../../api/refusals';
import { Badge } from '../../components/display/badge';
import { useNow } from '../../components/display/clock';
import { SpendBar } from '../../components/display/spend-bar';
import { Absent, Money, Time } from '../../components/display/values';
import { formatCount, formatCountShort, formatUtcDay } from '../../format';
import { refusedNow } from '../refusals/refused-now';
import { REASONS } from '../refusals/refusal-words';
import { nameOfLimit, spendOf } from './key-limits';
import styles from './keys.module.css';

/** Nothing for an ordinary key that works. */
export function KeyBadges({ apiKey }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  return (
    <>
      {apiKey.is_management_key && <Badge tone="accent">Management</Badge>}
      {apiKey.disabled && <Badge tone="neutral">Disabled</Badge>}
      {isExpired(apiKey, now) && <Badge tone="warning">Expired</Badge>}
    </>
  );
}

export function KeySpend({ apiKey, name }: { readonly apiKey: ApiKey | CurrentKey; readonly name: string }) {
  if (apiKey.is_management_key) return <Absent />;
  return <SpendBar label={`Spend of ${name}`} spend={spendOf(apiKey)} limit={apiKey.limit} />;
}

interface FirstLimitProps {
  readonly apiKey: ApiKey | CurrentKey;
  /** With the time at which it resets. */
  readonly hasReset?: boolean;
}

/** The limit that stops the key first. It need not be the key's own. */
export function FirstLimit({ apiKey, hasReset = false }: FirstLimitProps) {
  const { effective_limit: limit } = apiKey;
  // Management keys make no calls that cost something.
  if (apiKey.is_management_key) return <Absent />;
  if (limit === null) return <span className={styles.muted}>No limit</span>;
  return (
    <span className={styles.firstLimit}>
      <span>
        <span>{nameOfLimit(limit)}</span>
        {' · '}
        {limit.remaining_usd > 0 ? (
          <>
            <Money usd={limit.remaining_usd} /> left
          </>
        ) : (
          <span className={styles.reached}>Reached</span>
        )}
      </span>
      {hasReset && (
        <span className={styles.muted}>
          {limit.resets_at === null ? (
            'Never resets'
          ) : (
            <>
              Resets <Time at={limit.resets_at} isRelative />
            </>
          )}
        </span>
      )}
    </span>
  );
}

const SOON_MS = 7 * 86_400_000;

interface KeyStateProps {
  readonly apiKey: ApiKey;
  /** Of the key, newest first; as many as are listed. */
  readonly refusals: readonly Refusal[];
}

/** Whether calls with the key are accepted, in one word, until when, and how many were not. */
export function KeyState({ apiKey, refusals }: KeyStateProps) {
  return (
    <span className={styles.state}>
      <StateBadge {...{ apiKey, refusals }} />
      <Expiry apiKey={apiKey} />
      <RefusedCount apiKey={apiKey} />
    </span>
  );
}

function StateBadge({ apiKey, refusals }: KeyStateProps) {
  const now = useNow();
  const { effective_limit: limit, expires_at: expires } = apiKey;
  if (apiKey.disabled) return <Badge tone="neutral">Disabled</Badge>;
  if (isExpired(apiKey, now)) return <Badge tone="warning">Expired</Badge>;
  if (!apiKey.is_management_key && limit !== null && limit.remaining_usd <= 0)
    return <Badge tone="bad">Stopped</Badge>;
  const refused = refusedNow(apiKey, refusals, now);
  if (refused?.kind === 'limit') {
    if (refused.affordable === null) return <Badge tone="bad">Refused</Badge>;
    return (
      <span className={styles.wrapping}>
        <Badge tone="bad">Refuses chats without a token limit</Badge>
      </span>
    );
  }
  if (expires !== null && Date.parse(expires) - now < SOON_MS)
    return <Badge tone="warning">Expires soon</Badge>;
  return <Badge tone="good">Active</Badge>;
}

/** Nothing for a key that never expires. */
function Expiry({ apiKey: { expires_at: at } }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  if (at === null) return null;
  return (
    <span className={styles.muted}>
      {Date.parse(at) > now ? 'expires' : 'expired'} <Time at={at} isRelative />
    </span>
  );
}

/** Of the last hour, else of the last day; on hover both, and the newest reason. */
export function RefusedCount({ apiKey: { refusals } }: { readonly apiKey: ApiKey }) {
  if (refusals === null) return null;
  const { last_hour: hour, last_day: day, last_reason: reason } = refusals;
  return (
    <span
      className={hour > 0 ? styles.reached : styles.muted}
      title={`${formatCount(hour)} in the last hour, ${formatCount(day)} in the last day. ${REASONS[reason].name}.`}
    >
      {hour > 0 ? `${formatCountShort(hour)} refused in 1 h` : `${formatCountShort(day)} refused in 24 h`}
    </span>
  );
}

/** Limits reset at 00:00 UTC; the moment is shown on hover. */
export function LimitReset({ apiKey }: { readonly apiKey: ApiKey | CurrentKey }) {
  if (apiKey.is_management_key) return <Absent />;
  return (
    <Time at={apiKey.effective_limit?.resets_at} absent={apiKey.limit === null ? '–' : 'Never'} isRelative />
  );
}

/** The moment is that of the calls that are summed up, minutes late; the day counts charged calls at once. */
export function LastUsed({ apiKey }: { readonly apiKey: ApiKey | CurrentKey }) {
  const { last_used_at: at, last_used_on: day } = apiKey;
  if (at !== null && (day === null || at.slice(0, day.length) >= day))
    return <Time at={at} isRelative isPast />;
  if (day === null) return <span className={styles.muted}>Never</span>;
  return (
    <time className={styles.day} dateTime={day} title={`${day} UTC`}>
      {formatUtcDay(day)}
    </time>
  );
}
