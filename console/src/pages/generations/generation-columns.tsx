// The columns of lists of calls.
import { Link } from '@tanstack/react-router';
import type { GenerationRow } from '../../api/generations';
import type { Column } from '../../components/data/data-table';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Badge, StatusBadge } from '../../components/display/badge';
import { Absent, ModelId, Money, Name, Time } from '../../components/display/values';
import { formatCount, formatDuration } from '../../format';
import { endInWords } from './call-route';
import { nameOfError } from './failure-causes';
import styles from './generations.module.css';

export type CallColumn = Column<GenerationRow>;

export const TIME_COLUMN: CallColumn = {
  id: 'time',
  header: 'Time',
  isWhole: true,
  cell: ({ id, created_at: at, model, api_key_name: key }) => (
    <span className={styles.stack}>
      <Link to="/generations/$id" params={{ id }}>
        <Time at={at} />
      </Link>
      {/* Their columns are hidden on phones. */}
      <span className={styles.onPhone}>
        <ModelId id={model} />
        {key !== null && <Name text={key} />}
      </span>
    </span>
  ),
};

export const STATUS_COLUMN: CallColumn = {
  id: 'status',
  header: 'Status and error',
  cell: (row) => (
    <span className={styles.stack}>
      <Outcome row={row} />
      {row.error_type !== null && (
        <span className={styles.error} title={row.error_message ?? undefined}>
          {nameOfError(row.error_type)}
          {row.error_message !== null && (
            <span className={styles.words}>
              : <bdi>{row.error_message}</bdi>
            </span>
          )}
        </span>
      )}
    </span>
  ),
};

export const MODEL_COLUMN: CallColumn = {
  id: 'model',
  header: 'Model',
  priority: 2,
  cell: ({ model, provider_name: provider, attempts, ...row }) => (
    <span className={styles.stack}>
      <ModelId id={model} />
      <span className={styles.second}>
        {operationOf(row)}, {provider ?? 'no provider'}
        {attempts > 1 && `, ${attempts} attempts`}
      </span>
    </span>
  ),
};

export const KEY_COLUMN = keyColumn(false);
/** With the workspace of the call, in lists of all workspaces. */
export const KEY_OF_WORKSPACE_COLUMN = keyColumn(true);

function keyColumn(hasWorkspace: boolean): CallColumn {
  return {
    id: 'key',
    header: 'Key and session',
    priority: 2,
    cell: ({ api_key_name: name, session_id: session, workspace_id: workspace }) => (
      <span className={styles.stack}>
        {name === null ? <Absent /> : <Name text={name} />}
        {hasWorkspace && (
          <span className={styles.second}>
            <WorkspaceName id={workspace} />
          </span>
        )}
        {session !== null && (
          <span className={styles.second}>
            <Name text={session} />
          </span>
        )}
      </span>
    ),
  };
}

/** Tokens, cost and latency. */
export const FIGURE_COLUMNS: readonly CallColumn[] = [
  {
    id: 'tokens',
    header: 'Tokens',
    align: 'end',
    priority: 3,
    cell: (row) => (
      <span className={styles.stack}>
        {formatCount(row.tokens_total)}
        {row.tokens_completion > 0 && (
          <span className={styles.split}>
            {formatCount(row.tokens_prompt)} prompt, {formatCount(row.tokens_completion)} answer
          </span>
        )}
      </span>
    ),
  },
  { id: 'cost', header: 'Cost', align: 'end', cell: ({ usage }) => <Money usd={usage} /> },
  {
    id: 'latency',
    header: 'Latency',
    align: 'end',
    priority: 2,
    cell: ({ latency }) => formatDuration(latency),
  },
];

function operationOf({ api_type: type, streamed: isStreamed }: Pick<GenerationRow, 'api_type' | 'streamed'>) {
  if (type === 'embeddings') return 'Embed';
  if (type === 'rerank') return 'Rerank';
  return isStreamed ? 'Chat, streamed' : 'Chat';
}

/** An answer that simply ended needs no remark. */
function Outcome({ row }: { readonly row: GenerationRow }) {
  const { status, finish_reason: reason, cancelled: isCancelled } = row;
  return (
    <span className={styles.badges}>
      <StatusBadge status={status} />
      {isCancelled && <Badge tone="warning">Cancelled</Badge>}
      {reason !== null && reason !== 'stop' && <Badge tone="neutral">{endInWords(reason, null)}</Badge>}
    </span>
  );
}
