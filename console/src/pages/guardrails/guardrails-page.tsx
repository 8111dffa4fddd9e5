// The guardrails of a workspace: which calls they leave, and how often their filters matched.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { guardrailsQuery, guardrailUsageQuery } from '../../api/guardrails';
import type { Guardrail, GuardrailUsage } from '../../api/guardrails';
import { workspacesQuery } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Icon } from '../../components/display/icon';
import { Page, Section } from '../../components/display/section';
import { Absent, Money, Name } from '../../components/display/values';
import { EmptyState, ErrorState, Notice } from '../../components/feedback/states';
import { formatCount, formatCountOf } from '../../format';
import { intervalText, rulesText } from './guardrail-words';
import styles from './guardrails.module.css';

const columnsOf = (
  defaultId: string | undefined,
  usages: ReadonlyMap<string, GuardrailUsage> | undefined,
  hasUsage: boolean,
): readonly Column<Guardrail>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name }) => (
      <span className={styles.nameCell}>
        <Link to="/guardrails/$id" params={{ id }}>
          <Name text={name} />
        </Link>
        {id === defaultId && <Badge tone="accent">All keys</Badge>}
      </span>
    ),
  },
  { id: 'rules', header: 'Rules', cell: (row) => rulesText(row) ?? <Absent /> },
  {
    id: 'limit',
    header: 'Limit',
    align: 'end',
    cell: ({ limit_usd: limit, reset_interval: interval }) =>
      limit === null ? (
        <Absent />
      ) : (
        <>
          <Money usd={limit} /> {intervalText(interval)}
        </>
      ),
  },
  ...(hasUsage ? usageColumns(defaultId, usages) : []),
];

const usageColumns = (
  defaultId: string | undefined,
  usages: ReadonlyMap<string, GuardrailUsage> | undefined,
): readonly Column<Guardrail>[] => [
  {
    id: 'for',
    header: 'Governs',
    priority: 2,
    cell: ({ id }) => (id === defaultId ? 'Every key of the workspace' : governsText(usages?.get(id))),
  },
  {
    id: 'hits',
    header: 'Matches in 7 days',
    priority: 3,
    align: 'end',
    cell: ({ id }) => formatCount((usages?.get(id)?.hits ?? []).reduce((sum, { count }) => sum + count, 0)),
  },
];

function governsText(usage: GuardrailUsage | undefined): string {
  const { key_count: keys = 0, member_count: members = 0 } = usage ?? {};
  const parts = [
    ...(keys > 0 ? [formatCountOf(keys, 'key')] : []),
    ...(members > 0 ? [formatCountOf(members, 'member')] : []),
  ];
  return parts.length === 0 ? 'Nothing yet' : parts.join(', ');
}

export function GuardrailsPage() {
  const workspaceId = useWorkspaceId();
  const { data, error, refetch } = useQuery(guardrailsQuery(workspaceId));
  const can = useCan();
  const hasUsage = can('guardrails.read_usage', workspaceId);
  const { data: usages } = useQuery({ ...guardrailUsageQuery(workspaceId), enabled: hasUsage });
  const { data: workspaces } = useQuery(workspacesQuery);
  const defaultId = workspaces?.find(({ id }) => id === workspaceId)?.default_guardrail_id;
  const hasDefault = data?.some(({ id }) => id === defaultId) ?? true;
  const create = can('guardrails.change', workspaceId) && (
    <Link to="/guardrails/new" className={buttonClass('primary')}>
      <Icon name="plus" /> Add guardrail
    </Link>
  );
  return (
    <Page
      title="Guardrails"
      description="Rules on models, data, money and texts. The stricter rule wins where several govern a call."
      actions={create}
    >
      {!hasDefault && defaultId !== undefined && can('default_guardrail.change', workspaceId) && (
        <Notice tone="info">
          <p className={styles.noticeHead}>
            <span>No guardrail governs every key of this workspace.</span>
            <Link to="/guardrails/$id/edit" params={{ id: defaultId }} className={buttonClass()}>
              Set the workspace default
            </Link>
          </p>
        </Notice>
      )}
      <Section title="Guardrails of the workspace" isFlush>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            caption="Guardrails"
            columns={columnsOf(defaultId, usages, hasUsage)}
            rows={data}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No guardrail yet" action={create}>
                A guardrail leaves certain models and providers, limits what a key or a member may spend, and
                replaces or refuses texts such as e-mail addresses.
              </EmptyState>
            }
          />
        )}
      </Section>
    </Page>
  );
}
