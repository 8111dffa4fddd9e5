// Beside and under a list that holds still: newer rows, refresh, older rows.
import { capitalise, formatCount, formatTime } from '../../format';
import { Button } from '../actions/button';
import type { HeldPages } from './held-pages';

/** "12 new" and the refresh button. */
export function RefreshButton<Row>({ pages }: { readonly pages: HeldPages<Row> }) {
  return (
    <Button icon="refresh" onClick={pages.refresh}>
      {pages.newer > 0 ? `${formatCount(pages.newer)} new` : 'Refresh'}
    </Button>
  );
}

interface ListFootProps<Row> {
  readonly pages: HeldPages<Row>;
  /** "keys" */
  readonly noun: string;
}

export function ListFoot<Row>({ pages, noun }: ListFootProps<Row>) {
  const { rows, hasOlder, isLoadingOlder, loadOlder, searchedUntil } = pages;
  if (rows === undefined) return null;
  return (
    <>
      <span>
        {capitalise(noun)} shown: {formatCount(rows.length)}
        {hasOlder ? '' : ', no more'}
        {searchedUntil !== null && `; searched back to ${formatTime(searchedUntil)}`}
      </span>
      {hasOlder && (
        <Button isBusy={isLoadingOlder} onClick={loadOlder}>
          {searchedUntil === null ? 'Load more' : 'Search further'}
        </Button>
      )}
    </>
  );
}
