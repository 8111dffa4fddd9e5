// Refused calls, one a row: the cause in words, and the id that finds the call in the logs of its caller.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Refusal } from '../../api/refusals';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Absent, Code, Money, Name, Time } from '../../components/display/values';
import { REASONS } from './refusal-words';
import styles from './refusals.module.css';

const TIME: Column<Refusal> = {
  id: 'time',
  header: 'Time',
  isWhole: true,
  cell: ({ created_at: at }) => <Time at={at} />,
};

const KEY: Column<Refusal> = {
  id: 'key',
  header: 'Key and time',
  cell: ({ api_key_hash: hash, api_key_name: name, created_at: at }) => (
    <span className={styles.stack}>
      {hash === null ? (
        'Deleted key'
      ) : (
        <Link to="/keys/$hash" params={{ hash }}>
          <Name text={name ?? hash} />
        </Link>
      )}
      <span className={styles.muted}>
        <Time at={at} />
      </span>
    </span>
  ),
};

const columnsOf = (hasKey: boolean): readonly Column<Refusal>[] => [
  hasKey ? KEY : TIME,
  {
    id: 'reason',
    header: 'Reason',
    cell: ({ reason, message }) => (
      <span className={styles.stack}>
        {REASONS[reason].name}
        <span className={styles.message} title={message}>
          {message}
        </span>
      </span>
    ),
  },
  {
    id: 'amounts',
    header: 'Needed and left',
    align: 'end',
    priority: 2,
    cell: ({ needed_usd: needed, left_usd: left }) =>
      needed === null || left === null ? (
        <Absent />
      ) : (
        <span className={styles.stack}>
          <Money usd={needed} />
          <span className={styles.muted}>
            <Money usd={left} /> left
          </span>
        </span>
      ),
  },
  {
    id: 'request',
    header: 'Request id',
    cell: ({ request_id: id }) => <Code text={id} what="request id" />,
  },
];

interface RefusalTableProps {
  /** Undefined while they load. */
  readonly refusals: readonly Refusal[] | undefined;
  /** False: they are those of one key. */
  readonly hasKey: boolean;
  readonly empty: ReactNode;
}

export function RefusalTable({ refusals, hasKey, empty }: RefusalTableProps) {
  return (
    <DataTable
      caption="Newest refused calls"
      columns={columnsOf(hasKey)}
      rows={refusals}
      rowKey={({ id }) => id}
      empty={empty}
    />
  );
}
