// Lists with cursors that hold still: pages stay as they were loaded, and newer rows are counted, not inserted.
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { countNewer, joinPages } from './held-rows';
import type { RowPage } from './held-rows';

export interface CursorPage<Row> extends RowPage<Row> {
  readonly next_cursor: string | null;
  /** The search stopped after a bounded number of rows; `next_cursor` continues it. */
  readonly searched_until?: string | null;
}

interface HeldPagesOptions<Row> {
  readonly queryKey: readonly unknown[];
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<CursorPage<Row>>;
  readonly rowKey: (row: Row) => string;
  /** False: newer rows are not looked for. */
  readonly isLive?: boolean;
}

const WATCH_MS = 5000;

export interface HeldPages<Row> {
  /** Undefined while the first page loads. */
  readonly rows: readonly Row[] | undefined;
  /** Of the last load. Rows that were loaded before stay. */
  readonly error: Error | null;
  /** The newest page as it is now; undefined until it is loaded again. */
  readonly newest: CursorPage<Row> | undefined;
  /** Rows of the newest page that the list does not show yet. */
  readonly newer: number;
  /** Found by the load of older rows: those that are shown are not those of the list any more. */
  readonly hasChanged: boolean;
  readonly searchedUntil: string | null;
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  readonly loadOlder: () => void;
  /** Repeats the load that has failed: of older rows, or of those that are shown. */
  readonly retry: () => void;
  /** Starts again with the newest page. */
  readonly refresh: () => void;
}

export function useHeldPages<Row>({
  queryKey,
  load,
  rowKey,
  isLive = true,
}: HeldPagesOptions<Row>): HeldPages<Row> {
  const client = useQueryClient();
  const pages = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: CursorPage<Row>) => last.next_cursor ?? undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const newest = useQuery({
    queryKey: [...queryKey, 'newest'],
    queryFn: ({ signal }) => load(undefined, signal),
    enabled: isLive && pages.data !== undefined,
    refetchInterval: WATCH_MS,
    placeholderData: pages.data?.pages[0],
    gcTime: 0,
  });
  const held = pages.data && joinPages(pages.data.pages, rowKey);
  const last = pages.data?.pages.at(-1);
  return {
    rows: held?.rows,
    error: pages.isFetching ? null : pages.error,
    newest: newest.isPlaceholderData ? undefined : newest.data,
    newer: held === undefined ? 0 : countNewer(newest.data?.data ?? [], held.rows, rowKey),
    hasChanged: held?.hasChanged ?? false,
    searchedUntil: last?.searched_until ?? null,
    hasOlder: pages.hasNextPage,
    isLoadingOlder: pages.isFetchingNextPage,
    loadOlder: () => void pages.fetchNextPage(),
    retry: () => void (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch()),
    refresh: () => void client.resetQueries({ queryKey }),
  };
}
