// Destinations that do not deliver and endpoints that do not answer; one line when all is well.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deliveriesOfWorkspaceQuery, destinationsQuery } from '../../api/destinations';
import type { Destination, DestinationDeliveries } from '../../api/destinations';
import { providerHealthQuery } from '../../api/provider-health';
import { joinQueries } from '../../components/data/joined-queries';
import { useCan } from '../../app/rights';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { platformWords } from '../../components/feedback/platform-words';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import { FailingBadge } from '../../components/provider/failing-badge';
import styles from './overview.module.css';

const REFRESH_MS = 15_000;

export function Health({ workspaceId }: { readonly workspaceId: string }) {
  const enabledFor = { enabled: useCan()('destinations.read', workspaceId) };
  const providers = useQuery(providerHealthQuery);
  const destinations = useQuery({ ...destinationsQuery(workspaceId), ...enabledFor });
  const enabled = destinations.data?.filter((destination) => destination.enabled) ?? [];
  const deliveries = useQuery({
    ...deliveriesOfWorkspaceQuery(workspaceId),
    ...enabledFor,
    refetchInterval: REFRESH_MS,
  });
  const { error, retry } = joinQueries(providers, destinations, deliveries);
  if (error !== null) {
    return (
      <Section title="Health">
        <ErrorState error={error} onRetry={retry} />
      </Section>
    );
  }
  const { enabled: hasDestinations } = enabledFor;
  const isLoading =
    providers.data === undefined ||
    (hasDestinations && (destinations.data === undefined || deliveries.data === undefined));
  const failing = providers.data?.filter(({ open_endpoints: open }) => open > 0) ?? [];
  const troubled = enabled.flatMap((destination) => {
    const state = deliveries.data?.get(destination.id);
    return state && isTroubled(state) ? [{ destination, state }] : [];
  });
  return (
    <Section title="Health">
      {isLoading ? (
        <Placeholder />
      ) : (
        <ul className={styles.health}>
          {troubled.map(({ destination, state }) => (
            <DestinationLine key={destination.id} {...{ destination, state }} />
          ))}
          {failing.map((health) => (
            <li key={health.provider} className={styles.healthLine}>
              <span className={styles.healthText}>
                <Link to="/models" search={{ provider: health.provider }}>
                  {health.provider_name}
                </Link>
              </span>
              <FailingBadge health={health} />
            </li>
          ))}
          {hasDestinations && troubled.length === 0 && (
            <li className={styles.healthLine}>
              <Link to="/destinations">Destinations</Link>
              {enabled.length === 0 ? (
                <Badge tone="neutral">None</Badge>
              ) : (
                <Badge tone="good">All {enabled.length} deliver</Badge>
              )}
            </li>
          )}
          {failing.length === 0 && (
            <li className={styles.healthLine}>
              <Link to="/models">Providers</Link>
              <Badge tone="good">All configured answer</Badge>
            </li>
          )}
        </ul>
      )}
    </Section>
  );
}

function isTroubled({ status, dead_letters: deadLetters }: DestinationDeliveries): boolean {
  return status === 'retrying' || status === 'paused' || deadLetters > 0;
}

interface DestinationLineProps {
  readonly destination: Destination;
  readonly state: DestinationDeliveries;
}

function DestinationLine({ destination, state }: DestinationLineProps) {
  const badge =
    state.status === 'paused' ? (
      <Badge tone="bad">Paused</Badge>
    ) : state.status === 'retrying' ? (
      <Badge tone="warning">Retrying</Badge>
    ) : (
      <Badge tone="warning">{state.dead_letters} dead letters</Badge>
    );
  return (
    <li className={styles.healthLine}>
      <span className={styles.healthText}>
        <Link to="/destinations/$id" params={{ id: destination.id }}>
          <Name text={destination.name ?? destination.type} />
        </Link>{' '}
        {state.last_error && platformWords(state.last_error.message)}
      </span>
      {badge}
    </li>
  );
}
