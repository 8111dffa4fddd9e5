// Which destinations took the trace of a call.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { findKind } from '../../api/destination-kinds';
import { generationDeliveriesQuery } from '../../api/generations';
import type { GenerationDelivery } from '../../api/generations';
import { useCan } from '../../app/rights';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { platformWords } from '../../components/feedback/platform-words';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import styles from './generations.module.css';

const STATES: Readonly<Record<GenerationDelivery['state'], readonly [string, Tone]>> = {
  delivered: ['Delivered', 'good'],
  waiting: ['Waiting', 'accent'],
  retrying: ['Retrying', 'warning'],
  paused: ['Paused', 'bad'],
  dead_letter: ['Dead letter', 'bad'],
  dropped: ['Dropped', 'bad'],
  not_selected: ['Not selected', 'neutral'],
  unknown: ['Unknown', 'neutral'],
};

const REASONS: Readonly<Record<string, string>> = {
  refused: 'The platform rejected it.',
  too_large: 'It is larger than the platform takes.',
  expired: 'It waited too long.',
  content_gone: 'Its content is no longer stored.',
  disabled: 'The destination is disabled.',
  workspace_disabled: 'Delivery is switched off for the workspace.',
  before_start: 'The call is older than the destination.',
  region: 'The destination takes calls of other regions.',
  api_key: 'The destination takes calls of other keys.',
  sampling: 'Sampling left it out.',
  filter: 'The filter of the destination left it out.',
};

const WATCH_MS = 3000;
const isOpen = ({ state }: GenerationDelivery): boolean => state === 'waiting' || state === 'retrying';

interface DeliveriesProps {
  readonly id: string;
  readonly workspaceId: string | null;
}

export function Deliveries({ id, workspaceId }: DeliveriesProps) {
  const can = useCan();
  const { data, error, refetch } = useQuery({
    ...generationDeliveriesQuery(id),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? WATCH_MS : false),
  });
  return (
    <Section title="Deliveries">
      {data === undefined &&
        (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Placeholder />)}
      {data?.length === 0 && (
        <EmptyState title="No destination">
          {can('destinations.change', workspaceId) ? (
            <>
              <Link to="/destinations">Add a destination</Link> to send traces of calls to an observability
              platform.
            </>
          ) : (
            'Destinations receive the traces of calls. The workspace has none.'
          )}
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={styles.deliveries}>
          {data.map((delivery) => (
            <DeliveryLine
              key={delivery.destination_id}
              delivery={delivery}
              isLinked={can('destinations.read', workspaceId)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface DeliveryLineProps {
  readonly delivery: GenerationDelivery;
  /** Whether the reader may see the destination. */
  readonly isLinked: boolean;
}

function DeliveryLine({ delivery, isLinked }: DeliveryLineProps) {
  const { name, type, state, reason, next_attempt_at: next, last_error: lastError } = delivery;
  const platform = findKind(type)?.name ?? type;
  const [label, tone] = STATES[state];
  return (
    <li className={styles.delivery}>
      {isLinked ? (
        <Link to="/destinations/$id" params={{ id: delivery.destination_id }} className={styles.deliveryName}>
          <Name text={name ?? platform} />
        </Link>
      ) : (
        <span className={styles.deliveryName}>
          <Name text={name ?? platform} />
        </span>
      )}
      <Badge tone={tone}>{label}</Badge>
      <span className={styles.deliveryText}>
        {platform}
        {reason !== null && `. ${REASONS[reason] ?? reason}`}
        {next !== null && (
          <>
            . Next attempt <Time at={next} />
          </>
        )}
        {lastError !== null && `. ${platformWords(lastError.message)}`}
      </span>
    </li>
  );
}
