// The prices of a model by day, the rows in force marked, and rows of the operator added and removed.
import { useState } from 'react';
import type { CatalogueModel, PriceRow } from '../../../api/catalogue';
import { Button, IconButton } from '../../../components/actions/button';
import { DataTable } from '../../../components/data/data-table';
import type { Column } from '../../../components/data/data-table';
import { Badge } from '../../../components/display/badge';
import { Section } from '../../../components/display/section';
import { Name } from '../../../components/display/values';
import { EmptyState } from '../../../components/feedback/states';
import { showToast } from '../../../components/feedback/toasts';
import { ConfirmDialog } from '../../../components/overlay/dialog';
import { formatUtcDay } from '../../../format';
import { Amount } from '../price';
import { plainError } from './change-problem';
import {
  amountsOf,
  byDay,
  endpointViews,
  furtherOf,
  isSame,
  LAYER_WORDS,
  pricesBelow,
  stateOf,
  utcToday,
  withPrices,
} from './documents';
import type { EndpointView, RowState } from './documents';
import { inRow, PriceDialog } from './price-dialog';
import { asItIs, useLayerChange } from './use-layer-change';
import styles from '../models.module.css';

interface PricedRow {
  readonly view: EndpointView;
  readonly row: PriceRow;
  readonly state: RowState;
  /** A row of the operator that the layers below do not have. */
  readonly isOwn: boolean;
}

const rowsOf = ({ endpoint }: EndpointView): readonly PriceRow[] => endpoint.prices ?? [];

function pricedRows(entry: CatalogueModel, today: string): PricedRow[] {
  return endpointViews(entry).flatMap((view) => {
    const below = pricesBelow(entry, view.tag);
    return byDay(rowsOf(view)).map((row) => ({
      view,
      row,
      state: stateOf(row, rowsOf(view), today),
      isOwn: view.sources['prices'] === 'operator' && !below.some((one) => isSame(one, row)),
    }));
  });
}

const dayOf = (row: PriceRow): string => formatUtcDay(row.effective_from);

function columnsOf(remove: ((row: PricedRow) => void) | null): readonly Column<PricedRow>[] {
  return [
    {
      id: 'from',
      header: 'From',
      cell: ({ view, row, state }) => (
        <span className={styles.nameCell}>
          <span className={styles.badges}>
            {dayOf(row)}
            {state === 'in force' && <Badge tone="good">In force</Badge>}
            {state === 'later' && <Badge tone="accent">Later</Badge>}
          </span>
          <code className={styles.id} title={view.tag}>
            {view.tag}
          </code>
        </span>
      ),
    },
    {
      id: 'prices',
      header: 'Prices',
      cell: ({ row }) => (
        <span className={styles.nameCell}>
          {amountsOf(row).map(({ label, usd }) => (
            <span key={label}>
              <span className={styles.muted}>{label}</span> <Amount usd={usd} />
            </span>
          ))}
          {furtherOf(row).map((text) => (
            <span key={text} className={styles.muted}>
              {text}
            </span>
          ))}
        </span>
      ),
    },
    { id: 'source', header: 'Stated by', priority: 2, cell: ({ row }) => <Name text={row.source} /> },
    {
      id: 'layer',
      header: 'Source',
      priority: 3,
      cell: ({ view, isOwn }) => {
        const layer = view.sources['prices'];
        if (layer === 'operator' && !isOwn) return 'Below, kept';
        return layer === undefined ? null : LAYER_WORDS[layer];
      },
    },
    ...(remove === null
      ? []
      : [
          {
            id: 'remove',
            header: 'Remove',
            isHeaderHidden: true,
            align: 'end',
            cell: (priced: PricedRow) =>
              priced.isOwn && (
                <IconButton
                  icon="close"
                  label={`Remove the price of ${priced.view.tag} from ${dayOf(priced.row)}`}
                  onClick={() => remove(priced)}
                />
              ),
          } as const,
        ]),
  ];
}

export function Prices({
  entry,
  canChange,
}: {
  readonly entry: CatalogueModel;
  readonly canChange: boolean;
}) {
  const [removed, setRemoved] = useState<PricedRow | null>(null);
  const [isAdding, setAdding] = useState(false);
  const saved = (text: string) => () => {
    setAdding(false);
    setRemoved(null);
    showToast({ tone: 'good', text });
  };
  const add = useLayerChange(entry, saved('The price was added. Calls that begin from its day on pay it.'));
  const remove = useLayerChange(entry, saved('The price was removed.'));
  const views = endpointViews(entry);
  const change = (
    { tag }: Pick<EndpointView, 'tag'>,
    rowsAfter: (rows: readonly PriceRow[]) => readonly PriceRow[],
  ) => {
    return (from: CatalogueModel) => {
      const view = endpointViews(from).find((one) => one.tag === tag);
      if (view === undefined)
        throw new Error(`The endpoint ${tag} is gone. Close this and load the page again.`);
      return withPrices(from, view, rowsAfter(rowsOf(view)));
    };
  };
  return (
    <Section
      title="Prices"
      description="USD for a million tokens, unless another unit is named. A row holds from 00:00 UTC of its day until the next one begins."
      actions={
        canChange && views.length > 0 ? (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a price
          </Button>
        ) : null
      }
      isFlush
    >
      <DataTable
        caption="Prices by day"
        columns={columnsOf(canChange ? setRemoved : null)}
        rows={pricedRows(entry, utcToday())}
        rowKey={({ view, row }) => `${view.tag} ${row.effective_from}`}
        isRowMuted={({ state }) => state === 'past'}
        empty={
          <EmptyState title="No price">
            The price of this model is unknown: calls of keys with a limit are refused.
          </EmptyState>
        }
      />
      {isAdding && (
        <PriceDialog
          kind={entry.kind}
          endpoints={views.map((view) => ({ tag: view.tag, rows: rowsOf(view) }))}
          error={add.error}
          isBusy={add.isPending}
          action="Add price"
          saveOverNewest={add.saveOverNewest}
          onAdd={(tag, row, reason) =>
            add.save({ make: change({ tag }, (rows) => [...rows, row]), reason, inForm: inRow })
          }
          onClose={() => {
            add.reset();
            setAdding(false);
          }}
        />
      )}
      <ConfirmDialog
        title="Remove price"
        name={removed === null ? '' : `${removed.view.tag} from ${dayOf(removed.row)}`}
        action="Remove"
        isOpen={removed !== null}
        mutation={{ ...remove, error: remove.error && (plainError(remove.error) as Error) }}
        onConfirm={() => {
          if (removed === null) return;
          const make = change(removed.view, (rows) => rows.filter((row) => !isSame(row, removed.row)));
          remove.save({ make, reason: null, inForm: asItIs });
        }}
        onClose={() => setRemoved(null)}
      >
        The row before it holds again for calls that begin from now on. Past calls keep their cost.
      </ConfirmDialog>
    </Section>
  );
}
