// The stored settings of a destination, secrets masked, in words.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { DestinationKind } from '../../api/destination-kinds';
import { labelOf } from '../../api/destination-kinds';
import type { Destination, FilterRules } from '../../api/destinations';
import { DescriptionList, Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { abbreviate, formatPercentExact } from '../../format';
import { FIELD_NAMES, OPERATOR_NAMES } from './filter-builder';
import styles from './destinations.module.css';

interface DestinationSettingsProps {
  readonly destination: Destination;
  readonly kind: DestinationKind | undefined;
}

type Item = readonly [string, ReactNode];

/** The stored members of the kind, then the custom headers. */
function connectionItems(config: Destination['config'], kind: DestinationKind | undefined): readonly Item[] {
  const headers = Object.entries((config['headers'] ?? {}) as Readonly<Record<string, string>>);
  const fields = (kind?.fields ?? []).map(({ name }) => [name, config[name]] as const);
  return [
    ...fields
      .filter(([, value]) => typeof value === 'string' && value !== '')
      .map(([name, value]): Item => [labelOf(name), <bdi key={name}>{String(value)}</bdi>]),
    ...headers.map(([name, value]): Item => [name, <code key={name}>{value}</code>]),
  ];
}

export function DestinationSettings({ destination, kind }: DestinationSettingsProps) {
  const { config, filter_rules: filter, api_key_hashes: keys, regions } = destination;
  return (
    <>
      <Section title="Connection">
        <DescriptionList
          items={[
            ...connectionItems(config, kind),
            ['Created', <Time key="created" at={destination.created_at} />],
            ['Last changed', <Time key="updated" at={destination.updated_at} />],
          ]}
        />
      </Section>
      <Section title="Calls and content">
        <DescriptionList
          items={[
            ['Sampling', formatPercentExact(destination.sampling_rate)],
            ['Keys', keys === null ? 'All keys' : <KeyLinks key="keys" hashes={keys} />],
            ['Filter', <FilterText key="filter" filter={filter} />],
            ['Content', destination.privacy_mode ? 'Left out: privacy mode' : 'Inputs and outputs'],
            ['Also sent', <AlsoSent key="also" destination={destination} />],
            ['Data regions', regions.join(', ')],
          ]}
        />
      </Section>
    </>
  );
}

function KeyLinks({ hashes }: { readonly hashes: readonly string[] }) {
  return (
    <ul className={styles.keyLinks}>
      {hashes.map((hash) => (
        <li key={hash}>
          <Link to="/keys/$hash" params={{ hash }}>
            <code>{abbreviate(hash)}</code>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Groups and rules have no other identity than their position. */
const groupKey = (position: number): string => String(position);

function FilterText({ filter }: { readonly filter: FilterRules | null }) {
  if (filter === null || filter.groups.length === 0) return <>None: every call</>;
  if (!filter.enabled) return <>Switched off: every call</>;
  return (
    <ul className={styles.filterText}>
      {filter.groups.map(({ logic, rules }, index) => (
        <li key={groupKey(index)}>
          {index > 0 && <span className={styles.or}>or </span>}
          {rules.map(({ field, operator, value }, position) => (
            <span key={groupKey(position)}>
              {position > 0 && <span className={styles.or}> {logic ?? 'and'} </span>}
              {FIELD_NAMES[field]} {OPERATOR_NAMES[operator]}{' '}
              {value !== undefined && (
                <strong>
                  <Name text={String(value)} />
                </strong>
              )}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

function AlsoSent({ destination }: { readonly destination: Destination }) {
  const parts = [
    destination.broadcast_generation_cost ? 'cost' : null,
    destination.broadcast_generation_identity ? 'identity' : null,
    destination.broadcast_generation_request_context ? 'request context' : null,
  ].filter((part) => part !== null);
  return <>{parts.length === 0 ? 'Nothing' : parts.join(', ')}</>;
}
