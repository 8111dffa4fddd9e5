// Beside and under a list that holds still: newer rows, refresh, older rows.
import { capitalise, formatCount, formatTime } from '../../format';
import { messageOf } from '../../api/problems';
import { Button } from '../actions/button';
import { Notice } from '../feedback/states';
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
  const { rows, error, hasChanged, hasOlder, isLoadingOlder, loadOlder, retry, refresh, searchedUntil } =
    pages;
  if (rows === undefined) return null;
  return (
    <>
      {error !== null && (
        <Notice tone="bad">
          Loading {noun} failed: {messageOf(error)}
        </Notice>
      )}
      {hasChanged && (
        <Notice tone="warning">
          The list has changed since it was loaded.{' '}
          <Button icon="refresh" onClick={refresh}>
            Load it again
          </Button>
        </Notice>
      )}
      <span>
        {capitalise(noun)} shown: {formatCount(rows.length)}
        {hasOlder ? '' : ', no more'}
        {searchedUntil !== null && `; searched back to ${formatTime(searchedUntil)}`}
      </span>
      {error !== null ? (
        <Button icon="refresh" onClick={retry}>
          Try again
        </Button>
      ) : (
        hasOlder && (
          <Button isBusy={isLoadingOlder} onClick={loadOlder}>
            {searchedUntil === null ? 'Load more' : 'Search further'}
          </Button>
        )
      )}
    </>
  );
}
