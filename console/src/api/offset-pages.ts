// Lists by offset. A change of the list moves its rows, so that a page may repeat or skip some.
import type { CursorPage } from '../components/data/held-pages';

interface OffsetQuery {
  readonly offset: number;
  readonly limit: number;
}

interface OffsetAnswer<Row> {
  readonly data: readonly Row[];
  readonly total_count?: number;
}

/** A page whose cursor is the offset of the former page's last row, which it repeats: that shows whether the list has changed. */
export async function loadByOffset<Row>(
  cursor: string | undefined,
  limit: number,
  ask: (query: OffsetQuery) => Promise<OffsetAnswer<Row>>,
): Promise<CursorPage<Row>> {
  const offset = Number(cursor ?? 0);
  const { data, total_count: total } = await ask({ offset, limit });
  const end = offset + data.length;
  const hasMore = data.length === limit && (total === undefined || end < total);
  return { data, next_cursor: hasMore ? String(end - 1) : null, repeatsLast: cursor !== undefined };
}
