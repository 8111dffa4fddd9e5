// The models of the catalogue, with their prices and sources, and the providers that serve them.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CATALOGUE, loadCatalogue, pathOf } from '../../api/catalogue';
import type { CatalogueEntry } from '../../api/catalogue';
import { providersQuery } from '../../api/providers';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { Absent, Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { CatalogueActions } from './catalogue/catalogue-actions';
import { cheapestRow, mostOf, rowInForce, tokenPrices, utcToday, valuesOf } from './catalogue/documents';
import { SourceBadge } from './catalogue/source-badge';
import { CatalogueNote } from './catalogue-note';
import { ModelFilters } from './model-filters';
import type { ModelSearch } from './model-search';
import { Amount } from './price';
import { Providers } from './providers';
import styles from './models.module.css';

const route = getRouteApi('/app/management/models');

function TokenPrice({ entry, member }: { readonly entry: CatalogueEntry; readonly member: string }) {
  const row = cheapestRow(entry.model, utcToday());
  const price = row && tokenPrices(row)[member];
  if (price !== undefined) return <Amount usd={Number(price)} />;
  const unit = member === 'prompt' ? row?.['usd_per_search_unit'] : undefined;
  if (unit === undefined) return <Absent />;
  return (
    <span className={styles.price}>
      <Amount usd={Number(unit)} />
      <span className={styles.muted}>a search unit</span>
    </span>
  );
}

/** A moving alias has the name of its target instead of prices. */
function targetOf({ model: { targets } }: CatalogueEntry): string | undefined {
  return targets && rowInForce(targets, utcToday())?.target;
}

function State({ entry }: { readonly entry: CatalogueEntry }) {
  return (
    <span className={styles.badges}>
      <SourceBadge layers={entry.layers} />
      {entry.disabled && <Badge tone="neutral">Disabled</Badge>}
      {entry.problem !== null && <Badge tone="bad">Not read</Badge>}
    </span>
  );
}

const COLUMNS: readonly Column<CatalogueEntry>[] = [
  {
    id: 'model',
    header: 'Model',
    cell: (entry) => (
      <span className={styles.nameCell}>
        <Link to="/models/$author/$slug" params={pathOf(entry.id)}>
          <Name text={entry.name ?? entry.id} />
        </Link>
        <code className={styles.id} title={entry.id}>
          {entry.id}
        </code>
      </span>
    ),
  },
  { id: 'source', header: 'Source', cell: (entry) => <State entry={entry} /> },
  {
    id: 'input',
    header: 'Input',
    align: 'end',
    cell: (entry) => <TokenPrice entry={entry} member="prompt" />,
  },
  {
    id: 'output',
    header: 'Output',
    align: 'end',
    priority: 2,
    cell: (entry) => <TokenPrice entry={entry} member="completion" />,
  },
  {
    id: 'cached',
    header: 'Cached input',
    align: 'end',
    priority: 3,
    cell: (entry) => <TokenPrice entry={entry} member="cache_read" />,
  },
  {
    id: 'context',
    header: 'Context',
    align: 'end',
    priority: 2,
    cell: ({ model }) => {
      const { context_length: length } = model;
      const output = mostOf(model, 'max_output_tokens');
      return (
        <span className={styles.price}>
          {typeof length === 'number' ? formatCount(length) : <Absent />}
          {output !== null && <span className={styles.muted}>{formatCount(output)} out</span>}
        </span>
      );
    },
  },
  {
    id: 'parameters',
    header: 'Parameters',
    priority: 3,
    cell: (entry) => {
      const target = targetOf(entry);
      if (target !== undefined) return <Name text={`Stands for ${target}`} />;
      const names = valuesOf(entry.model, 'supported_parameters');
      return names.length === 0 ? <Absent /> : <Name text={names.join(', ')} />;
    },
  },
];

/** Changes of the operator, and disabled models, are shown whether or not a provider is configured. */
function toCatalogueSearch({ q, provider, kind, show, source }: ModelSearch) {
  const isNarrow = show !== undefined || (source !== undefined && source !== 'shipped');
  return {
    q,
    provider,
    kind,
    source,
    disabled: show === 'disabled' ? true : undefined,
    configured: isNarrow ? undefined : true,
  };
}

export function ModelsPage() {
  const search = toCatalogueSearch(route.useSearch());
  const providers = useQuery(providersQuery);
  const pages = useHeldPages({
    queryKey: [...CATALOGUE, 'list', search],
    load: (cursor, signal) => loadCatalogue(search, cursor, signal),
    rowKey: ({ id }) => id,
    isLive: false,
  });
  return (
    <Page
      title="Models and providers"
      description="Prices are USD for a million tokens at the cheapest endpoint. A model shows all of its endpoints, their health and prices."
      actions={<CatalogueActions />}
    >
      <Section title="Models" isFlush>
        <ModelFilters providers={providers.data ?? []} />
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="List of models"
            columns={COLUMNS}
            rows={pages.rows}
            rowKey={({ id }) => id}
            isRowMuted={({ disabled }) => disabled}
            empty={
              <EmptyState title="No model matches">
                Change the search, or show models whose provider is not configured. A provider is configured
                by a variable of the service, or by an own <Link to="/provider-keys">provider key</Link>.
              </EmptyState>
            }
            footer={<ListFoot pages={pages} noun="models" />}
          />
        )}
      </Section>
      <Providers />
      <CatalogueNote />
    </Page>
  );
}
