// The imports of price lists, newest first.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ImportSummary } from '../../api/imports';
import { importsQuery } from '../../api/imports';
import { urlOf } from '../../base-path';
import { useSession } from '../../app/workspace';
import { CodeBlock } from '../../components/data/code-block';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Page, Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState, Notice } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { NOT_AN_OPERATOR } from '../models/catalogue/change-problem';
import { StateBadge } from './state-badge';
import styles from '../models/models.module.css';

const commandOf = (): string =>
  `export SIGNALBOX_KEY=YOUR_MANAGEMENT_KEY
npm run catalogue:update -- models.dev=api.json --post=${location.origin}${urlOf('/')}`;

const COLUMNS: readonly Column<ImportSummary>[] = [
  {
    id: 'lists',
    header: 'Lists',
    cell: ({ id, lists }) => (
      <span className={styles.nameCell}>
        <Link to="/imports/$id" params={{ id }}>
          <Name text={lists.join('; ')} />
        </Link>
      </span>
    ),
  },
  { id: 'when', header: 'Posted', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    id: 'state',
    header: 'State',
    cell: ({ state, applied_count: applied }) => <StateBadge state={state} applied={applied} />,
  },
  {
    id: 'count',
    header: 'Proposals',
    align: 'end',
    priority: 2,
    cell: ({ proposal_count: count }) => formatCount(count),
  },
  { id: 'who', header: 'Key', priority: 3, cell: ({ actor }) => <code className={styles.id}>{actor}</code> },
];

export function ImportsPage() {
  const { can_change_catalogue: canChange } = useSession();
  const imports = useQuery({ ...importsQuery, enabled: canChange });
  return (
    <Page
      title="Price imports"
      description={
        <>
          Prices that maintained lists state, beside those in force. None of them holds until you apply it.{' '}
          <Link to="/models">Models and providers</Link>
        </>
      }
    >
      {canChange ? (
        <Section title="Imports" description="The newest 20 are kept." isFlush>
          {imports.error && imports.data === undefined ? (
            <ErrorState error={imports.error} onRetry={() => void imports.refetch()} />
          ) : (
            <DataTable
              caption="List of imports"
              columns={COLUMNS}
              rows={imports.data}
              rowKey={({ id }) => id}
              isRowMuted={({ state }) => state === 'discarded'}
              empty={
                <EmptyState title="No import yet">
                  The repository of the service has a command that compares price lists with this catalogue
                  and posts what differs; docs/catalogue.md describes it.
                  <CodeBlock code={commandOf()} what="command" />
                </EmptyState>
              }
            />
          )}
        </Section>
      ) : (
        <Notice tone="info">{NOT_AN_OPERATOR}</Notice>
      )}
    </Page>
  );
}
