// The state of a destination in words, shared by the list and its own page.
import type { DestinationDeliveries } from '../../api/destinations';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { useNow } from '../../components/display/clock';
import { Absent } from '../../components/display/values';
import { platformWords } from '../../components/feedback/platform-words';
import { formatCount, formatDuration, formatTime } from '../../format';
import styles from './destinations.module.css';

const STATES: Readonly<Record<DestinationDeliveries['status'], readonly [Tone, string]>> = {
  active: ['good', 'Delivering'],
  retrying: ['warning', 'Retrying'],
  paused: ['bad', 'Paused'],
  disabled: ['neutral', 'Disabled'],
};
// The service counts no further.
const MAX_PENDING = 10_000;

export function DestinationState({ deliveries }: { readonly deliveries: DestinationDeliveries | undefined }) {
  if (deliveries === undefined) return <span className={styles.statePlaceholder} />;
  const [tone, text] = STATES[deliveries.status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Nothing waits for a disabled destination. */
export function formatPending({ status, pending }: DestinationDeliveries): string {
  if (status === 'disabled') return '0';
  return pending >= MAX_PENDING ? `${formatCount(MAX_PENDING)} or more` : formatCount(pending);
}

/** The age of the oldest waiting generation. */
export function Lag({ deliveries }: { readonly deliveries: DestinationDeliveries | undefined }) {
  const now = useNow();
  const oldest = deliveries?.oldest_pending_at ?? null;
  if (oldest === null || deliveries?.status === 'disabled') return <Absent />;
  return (
    <span title={`Oldest: ${formatTime(oldest)}`}>
      {formatDuration(Math.max(0, now - Date.parse(oldest)))}
    </span>
  );
}

/** The platform's words, with the HTTP status before them. */
export function LastError({ deliveries }: { readonly deliveries: DestinationDeliveries | undefined }) {
  const error = deliveries?.last_error ?? null;
  if (error === null) return <Absent />;
  return (
    <bdi className={styles.errorText} title={error.message}>
      {platformWords(error.message)}
    </bdi>
  );
}
