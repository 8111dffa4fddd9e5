// Earlier and later calls of the session of a call, in order of time.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sessionQuery } from '../../api/generations';
import type { Generation, GenerationRow } from '../../api/generations';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Section } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { ErrorState } from '../../components/feedback/states';
import { FIGURE_COLUMNS, MODEL_COLUMN, STATUS_COLUMN, TIME_COLUMN } from './generation-columns';
import styles from './generations.module.css';

interface SessionCallsProps {
  readonly generation: Generation;
  readonly session: string;
}

export function SessionCalls({ generation, session }: SessionCallsProps) {
  const { data, error, refetch } = useQuery(sessionQuery(generation));
  const all = (
    <Link to="/generations" search={{ session }}>
      All calls of the session
    </Link>
  );
  return (
    <Section title="Session" description="Earlier and later calls, in order of time." actions={all} isFlush>
      {data === undefined && error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Calls of the session"
          columns={[timeColumnOf(generation.id), STATUS_COLUMN, MODEL_COLUMN, ...FIGURE_COLUMNS]}
          rows={data?.calls}
          rowKey={({ id }) => id}
          empty={null}
          footer={data && (data.hasEarlier || data.hasLater) ? restOf(data) : undefined}
        />
      )}
    </Section>
  );
}

/** The call that the page shows has no link to itself. */
function timeColumnOf(id: string): Column<GenerationRow> {
  const cell = (row: GenerationRow) =>
    row.id === id ? (
      <span className={styles.stack} aria-current="true">
        <strong>This call</strong>
        <Time at={row.created_at} />
      </span>
    ) : (
      TIME_COLUMN.cell(row)
    );
  return { ...TIME_COLUMN, cell };
}

function restOf({ hasEarlier, hasLater }: { readonly hasEarlier: boolean; readonly hasLater: boolean }) {
  if (hasEarlier && hasLater) return 'There are further calls, earlier and later.';
  return hasEarlier ? 'There are further calls, earlier.' : 'There are further calls, later.';
}
