// The first step of a new destination: its kind.
import { Link } from '@tanstack/react-router';
import { DESTINATION_KINDS } from '../../api/destination-kinds';
import type { DestinationKind } from '../../api/destination-kinds';
import { Section } from '../../components/display/section';
import styles from './destinations.module.css';

const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  [
    'Observability of model calls',
    ['langfuse', 'langsmith', 'braintrust', 'arize', 'opik', 'weave', 'posthog', 'ramp'],
  ],
  ['Monitoring', ['datadog', 'grafana', 'newrelic', 'sentry', 'otel-collector']],
  ['Storage and warehouses', ['s3', 'clickhouse', 'snowflake']],
];
const GROUPED = new Set(GROUPS.flatMap(([, types]) => types));
const OTHERS = DESTINATION_KINDS.filter(({ type }) => !GROUPED.has(type));

export function KindPicker() {
  return (
    <>
      {GROUPS.map(([title, types]) => (
        <KindGroup
          key={title}
          title={title}
          kinds={types.flatMap((type) => DESTINATION_KINDS.filter((kind) => kind.type === type))}
        />
      ))}
      <KindGroup title="Your own receiver" kinds={OTHERS} />
    </>
  );
}

function KindGroup({ title, kinds }: { readonly title: string; readonly kinds: readonly DestinationKind[] }) {
  return (
    <Section title={title}>
      <ul className={styles.kinds}>
        {kinds.map(({ type, name }) => (
          <li key={type}>
            <Link to="/destinations/new" search={{ kind: type }} className={styles.kindCard}>
              <span className={styles.kindMark} aria-hidden="true">
                {name.replace(/[^A-Za-z]/g, '').charAt(0)}
              </span>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
