// One guardrail: its rules, whom it governs, and how often its filters matched.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import {
  deleteGuardrail,
  guardrailQuery,
  GUARDRAILS,
  guardrailsQuery,
  guardrailUsageQuery,
} from '../../api/guardrails';
import type { Guardrail, GuardrailUsage } from '../../api/guardrails';
import { workspacesQuery } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { useObjectWorkspace } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Money, Time } from '../../components/display/values';
import { EmptyState, ErrorState, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { formatCount } from '../../format';
import { AssignedKeys, AssignedMembers } from './guardrail-assignments';
import { ACTION_NAMES, BUILTIN_NAMES, intervalText, nameOfFilter, ZDR_MEMBERS } from './guardrail-words';
import styles from './guardrails.module.css';

const route = getRouteApi('/app/management/guardrails/$id');

export function GuardrailPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(guardrailQuery(id));
  if (data !== undefined) return <GuardrailView key={id} guardrail={data} />;
  return (
    <Page title="Guardrail">
      {error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="guardrail"
          back={<Link to="/guardrails">All guardrails</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function GuardrailView({ guardrail }: { readonly guardrail: Guardrail }) {
  const { id, name, description, workspace_id: workspaceId } = guardrail;
  useObjectWorkspace(workspaceId);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { data: workspaces } = useQuery(workspacesQuery);
  const isDefault = workspaces?.some(({ default_guardrail_id: own }) => own === id) ?? false;
  const can = useCan();
  const canChange = can(isDefault ? 'default_guardrail.change' : 'guardrails.change', workspaceId);
  const remove = useMutation({
    mutationFn: () => deleteGuardrail(id),
    onMutate: () => client.cancelQueries({ queryKey: [...GUARDRAILS, id] }),
    onSuccess: async () => {
      showToast({ tone: 'good', text: `${name} was deleted.` });
      await navigate({ to: '/guardrails', replace: true });
      client.removeQueries({ queryKey: [...GUARDRAILS, id] });
      await client.invalidateQueries({ queryKey: guardrailsQuery(workspaceId).queryKey });
    },
  });
  return (
    <Page
      title={name}
      {...(description !== null && { description })}
      actions={
        canChange && (
          <>
            <Link to="/guardrails/$id/edit" params={{ id }} className={buttonClass('primary')}>
              Edit
            </Link>
            <ActionMenu
              label={`Further actions for ${name}`}
              actions={[{ label: 'Delete', onSelect: () => setDeleting(true), isDangerous: true }]}
            />
          </>
        )
      }
    >
      <Section title="Rules">
        <DescriptionList items={rulesOf(guardrail)} />
      </Section>
      {isDefault ? (
        <Section title="Governs">Every key of the workspace, and new ones.</Section>
      ) : (
        <>
          <AssignedKeys id={id} workspaceId={workspaceId} canChange={canChange} />
          <AssignedMembers id={id} canChange={canChange} />
        </>
      )}
      {can('guardrails.read_usage', workspaceId) && (
        <Matches id={id} workspaceId={workspaceId} isLive={!isDeleting} />
      )}
      <ConfirmDialog
        title="Delete guardrail"
        name={name}
        action="Delete"
        isOpen={isDeleting}
        mutation={remove}
        onConfirm={() => remove.mutate()}
        onClose={() => setDeleting(false)}
      >
        {isDefault
          ? 'Its rules end for every key of the workspace.'
          : 'Its rules end for the keys and members that it is assigned to.'}
      </ConfirmDialog>
    </Page>
  );
}

const lines = (names: readonly string[]): ReactNode => (
  <ul className={styles.names}>
    {names.map((name) => (
      <li key={name}>
        <code>{name}</code>
      </li>
    ))}
  </ul>
);

function rulesOf(guardrail: Guardrail): readonly (readonly [string, ReactNode])[] {
  const lists = [
    ['Only models', guardrail.allowed_models],
    ['Never models', guardrail.ignored_models],
    ['Only providers', guardrail.allowed_providers],
    ['Never providers', guardrail.ignored_providers],
    ['Data regions', guardrail.allowed_data_regions],
  ] as const;
  const vendors = ZDR_MEMBERS.filter(([member]) => guardrail[member] === true).map(([, vendor]) => vendor);
  const training = [
    ...(guardrail.enable_paid_model_training === false ? ['endpoints with a price'] : []),
    ...(guardrail.enable_free_model_training === false ? ['free endpoints'] : []),
  ];
  const { limit_usd: limit, reset_interval: interval } = guardrail;
  const filters = [
    ...(guardrail.content_filter_builtins ?? []).map(
      ({ slug, action, scan_scope: scope }) =>
        `${BUILTIN_NAMES[slug]}${scope === 'user_only' ? ' of the user' : ''}: ${ACTION_NAMES[action]}`,
    ),
    ...(guardrail.content_filters ?? []).map(
      ({ pattern, action, label }) => `${label ?? pattern}: ${ACTION_NAMES[action]}`,
    ),
    ...(guardrail.reject_unscannable ? ['Images, audio, video, files, token ids: Refuse the call'] : []),
  ];
  return [
    ...lists.flatMap(([label, names]) =>
      names === null || names.length === 0 ? [] : [[label, lines(names)] as const],
    ),
    ...(vendors.length > 0 ? [['Retain nothing', vendors.join(', ')] as const] : []),
    ...(training.length > 0 ? [['No training', `Of ${training.join(' and ')}`] as const] : []),
    ...(limit === null
      ? []
      : [
          [
            'Limit',
            <span key="limit">
              <Money usd={limit} /> {intervalText(interval)}, for each key and for all keys of each member
              {guardrail.include_byok_in_budgets && ', own provider keys included'}
            </span>,
          ] as const,
        ]),
    ...(filters.length > 0
      ? [
          [
            'Texts',
            <ul key="texts" className={styles.names}>
              {filters.map((text) => (
                <li key={text}>
                  <bdi>{text}</bdi>
                </li>
              ))}
            </ul>,
          ] as const,
        ]
      : []),
    ['Created', <Time key="created" at={guardrail.created_at} />],
    ['Last changed', <Time key="updated" at={guardrail.updated_at} />],
  ];
}

type Hits = GuardrailUsage['hits'][number];

const MATCH_COLUMNS: readonly Column<Hits>[] = [
  { id: 'filter', header: 'Filter', cell: ({ filter }) => <bdi>{nameOfFilter(filter)}</bdi> },
  { id: 'action', header: 'Action', cell: ({ action }) => ACTION_NAMES[action] },
  { id: 'count', header: 'Matches', align: 'end', cell: ({ count }) => formatCount(count) },
];

interface MatchesProps {
  readonly id: string;
  readonly workspaceId: string;
  readonly isLive: boolean;
}

function Matches({ id, workspaceId, isLive }: MatchesProps) {
  const { data, error, refetch } = useQuery({ ...guardrailUsageQuery(workspaceId), enabled: isLive });
  return (
    <Section title="Matches of the last seven days" isFlush>
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Matches"
          columns={MATCH_COLUMNS}
          rows={data && (data.get(id)?.hits ?? [])}
          rowKey={({ filter, action }) => `${action} ${filter}`}
          empty={
            <EmptyState title="No match">
              Matches of filters are counted, of refused calls as well, and shown within ten seconds.
            </EmptyState>
          }
        />
      )}
    </Section>
  );
}
