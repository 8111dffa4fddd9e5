// The table of every list. It shows the rows that it is given, in their order; lists hold still (held-pages.ts).
import type { ReactNode } from 'react';
import styles from './data-table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'end';
  /** 1: shown at every width; 2: from 640 px; 3: from 1024 px. */
  readonly priority?: 1 | 2 | 3;
  /** Never narrower than its content: for times, which would run into the next column. */
  readonly isWhole?: boolean;
  /** Hides the header's text from sight: for columns of buttons. */
  readonly isHeaderHidden?: boolean;
}

interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first rows load: placeholders keep the height. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** Instead of the table when there is no row. */
  readonly empty: ReactNode;
  /** Under the rows: the button for older ones, counts. */
  readonly footer?: ReactNode;
  readonly isRowMuted?: (row: Row) => boolean;
}

const PLACEHOLDER_ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, empty, footer, isRowMuted } = props;
  if (rows?.length === 0) return empty;
  return (
    <>
      {/* Focusable, so that the keyboard can scroll what is wider than the page. */}
      <div className={styles.scroller} role="group" aria-label={caption} tabIndex={0}>
        <table className={styles.table} aria-busy={rows === undefined}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.id} scope="col" className={cellClass(column)}>
                  <span className={column.isHeaderHidden ? 'visually-hidden' : undefined}>
                    {column.header}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows === undefined
              ? PLACEHOLDER_ROWS.map((number) => <PlaceholderRow key={number} columns={columns} />)
              : rows.map((row) => (
                  <tr key={rowKey(row)} className={isRowMuted?.(row) ? styles.muted : undefined}>
                    {columns.map((column) => (
                      <td key={column.id} className={cellClass(column)}>
                        {column.cell(row)}
                      </td>
                    ))}
                  </tr>
                ))}
          </tbody>
        </table>
      </div>
      {footer !== undefined && <div className={styles.footer}>{footer}</div>}
    </>
  );
}

function PlaceholderRow<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <tr>
      {columns.map((column) => (
        <td key={column.id} className={cellClass(column)}>
          <span className={styles.placeholder} />
        </td>
      ))}
    </tr>
  );
}

function cellClass<Row>({ align, priority = 1, isWhole = false }: Column<Row>): string {
  return [
    align === 'end' ? styles.end : '',
    isWhole ? styles.whole : '',
    styles[`priority${priority}`] ?? '',
  ].join(' ');
}
