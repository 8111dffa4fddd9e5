// The filters of the list. They live in the address.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { inferenceKeysQuery, keyQuery } from '../../api/keys';
import { isoTime, isoTimeOfLocal } from '../../api/iso-time';
import { providersQuery } from '../../api/providers';
import { Button } from '../../components/actions/button';
import { DraftInput, LAST_MINUTE } from '../../components/form/draft-input';
import { ModelOptions } from '../../components/form/model-options';
import { abbreviate } from '../../format';
import { ERROR_NAMES } from './failure-causes';
import { readGenerationSearch } from './generation-search';
import type { GenerationSearch } from './generation-search';
import styles from './generations.module.css';

const route = getRouteApi('/app/management/generations');

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: '2xx', label: 'Succeeded' },
  { value: 'error', label: 'Failed' },
  { value: '4xx', label: '4xx: the request' },
  { value: '5xx', label: '5xx: the provider or this service' },
];

const ERRORS = [
  { value: '', label: 'Any or none' },
  ...Object.entries(ERROR_NAMES).map(([value, label]) => ({ value, label })),
];

const OPERATIONS = [
  { value: '', label: 'Any operation' },
  { value: 'embeddings', label: 'Embeddings' },
  { value: 'chat', label: 'Chat' },
  { value: 'rerank', label: 'Rerank' },
];

const OWN_RANGE = 'own';
const RANGES = [
  { value: '', label: 'Any time' },
  { value: 'hour', label: 'Last hour' },
  { value: 'today', label: 'Today' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: OWN_RANGE, label: 'From and until' },
];

/** Days of the zone of the reader, as the times of the list are. */
function rangeOf(name: string | undefined, now: Date): Pick<GenerationSearch, 'from' | 'to'> {
  const startOfDay = (offset: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset);
  if (name === 'hour') return { from: isoTime(now.getTime() - 3_600_000), to: undefined };
  if (name === 'today') return { from: isoTime(startOfDay(0)), to: undefined };
  if (name === 'yesterday') return { from: isoTime(startOfDay(-1)), to: isoTime(startOfDay(0)) };
  return { from: undefined, to: undefined };
}

const OLDER_KEYS = {
  value: 'older',
  label: 'Older keys: "View generations" on the page of a key',
  isHint: true,
};

export function GenerationFilterBar({ workspaceId }: { readonly workspaceId: string | null }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: GenerationSearch) =>
    void navigate({ search: (former) => ({ ...former, ...changed }), replace: true });
  const { status = '', error = '', model, key } = search;
  const [isChosen, setOwnRange] = useState(false);
  const isOwnRange = isChosen || search.from !== undefined || search.to !== undefined;
  const isFiltered = Object.entries(search).some(
    ([name, value]) => name !== 'workspace' && value !== undefined,
  );
  return (
    <search className={styles.filters} aria-label="Filter generations">
      <Choice
        label="Status"
        value={status}
        choices={withValue(STATUSES, status, status)}
        onChange={(value) => change({ status: value })}
      />
      <Choice
        label="Error"
        value={error}
        choices={withValue(ERRORS, error, error)}
        onChange={(value) => change({ error: value })}
      />
      <Choice
        label="Operation"
        value={search.operation ?? ''}
        choices={OPERATIONS}
        onChange={(value) => change(readGenerationSearch({ ...search, operation: value }))}
      />
      <ModelFilter value={model} onChange={(value) => change({ model: value })} />
      <KeyFilter workspaceId={workspaceId} value={key} onChange={(value) => change({ key: value })} />
      <ProviderFilter value={search.provider} onChange={(provider) => change({ provider })} />
      <Text label="Session" value={search.session} onChange={(session) => change({ session })} />
      <Text label="User" value={search.user} onChange={(user) => change({ user })} />
      <Choice
        label="Time"
        value={isOwnRange ? OWN_RANGE : ''}
        choices={RANGES}
        onChange={(value) => {
          setOwnRange(value === OWN_RANGE);
          change(value === OWN_RANGE ? {} : rangeOf(value, new Date()));
        }}
      />
      {isOwnRange && (
        <>
          <Moment label="From" value={search.from} onChange={(from) => change({ from })} />
          <Moment label="Until" value={search.to} onChange={(to) => change({ to })} />
        </>
      )}
      {isFiltered && (
        <Button variant="ghost" icon="close" onClick={() => void navigate({ search: {}, replace: true })}>
          Clear
        </Button>
      )}
    </search>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
  /** A line that says something, and cannot be chosen. */
  readonly isHint?: boolean;
}

/** A value from the address that the list does not know stays visible. */
function withValue(choices: readonly Option[], value: string, label: string): readonly Option[] {
  return choices.some((choice) => choice.value === value) ? choices : [...choices, { value, label }];
}

interface ControlProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function Choice({ label, value, choices, onChange }: ControlProps & { readonly choices: readonly Option[] }) {
  return (
    <label className={styles.filter}>
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value || undefined)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} disabled={choice.isHint}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface KeyFilterProps extends Omit<ControlProps, 'label'> {
  readonly workspaceId: string | null;
}

/** One of the newest keys, or an older one, which the page of that key has chosen. */
function KeyFilter({ workspaceId, value = '', onChange }: KeyFilterProps) {
  const { data } = useQuery(inferenceKeysQuery(workspaceId, ''));
  const chosen = useQuery({ ...keyQuery(value), enabled: value !== '' });
  const keys = (data?.keys ?? []).map(({ hash, name }) => ({ value: hash, label: name }));
  const choices = withValue(
    [{ value: '', label: 'Any key' }, ...keys],
    value,
    chosen.data?.name ?? abbreviate(value),
  );
  return (
    <Choice
      label="Key"
      value={value}
      choices={data?.hasMore ? [...choices, OLDER_KEYS] : choices}
      onChange={onChange}
    />
  );
}

function ProviderFilter({ value = '', onChange }: Omit<ControlProps, 'label'>) {
  const { data } = useQuery(providersQuery);
  const choices = [
    { value: '', label: 'Any provider' },
    ...(data ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  return (
    <Choice label="Provider" value={value} choices={withValue(choices, value, value)} onChange={onChange} />
  );
}

/** Any model, with those that match the typed part to choose from. */
function ModelFilter({ value, onChange }: Omit<ControlProps, 'label'>) {
  const list = useId();
  const [typed, setTyped] = useState('');
  return (
    <>
      <Text label="Model" value={value} onChange={onChange} list={list} onInput={setTyped} />
      <ModelOptions id={list} part={typed} />
    </>
  );
}

interface TextProps extends ControlProps {
  readonly list?: string;
  readonly onInput?: (typed: string) => void;
}

function Text({ label, value = '', onChange, list, onInput }: TextProps) {
  return (
    <label className={styles.filter}>
      <span>{label}</span>
      <DraftInput
        placeholder="Any"
        autoComplete="off"
        list={list}
        value={value}
        onInput={({ currentTarget }) => onInput?.(currentTarget.value)}
        onApply={(text) => onChange(text || undefined)}
      />
    </label>
  );
}

function Moment({ label, value, onChange }: ControlProps) {
  return (
    <label className={`${styles.filter} ${styles.moment}`}>
      <span>{label}</span>
      <DraftInput
        type="datetime-local"
        max={LAST_MINUTE}
        value={value === undefined ? '' : toLocalInput(value)}
        onApply={(text) => onChange(isoTimeOfLocal(text))}
      />
    </label>
  );
}

/** The value of an input for local times: no zone, minutes. */
function toLocalInput(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
