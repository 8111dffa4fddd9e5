// Models that calls can reach, with their prices, and the providers that serve them.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Model } from '../../api/models';
import { loadModels, providersQuery } from '../../api/providers';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { Page, Section } from '../../components/display/section';
import { Absent, Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { CatalogueNote } from './catalogue-note';
import { ModelFilters } from './model-filters';
import { Price } from './price';
import { Providers } from './providers';
import styles from './models.module.css';

const route = getRouteApi('/app/management/models');

/** `vendor/model` as the parameters of its page. */
function paramsOf(id: string): { author: string; slug: string } {
  const slash = id.indexOf('/');
  return { author: id.slice(0, slash), slug: id.slice(slash + 1) };
}

const COLUMNS: readonly Column<Model>[] = [
  {
    id: 'model',
    header: 'Model',
    cell: ({ id, name }) => (
      <span className={styles.nameCell}>
        <Link to="/models/$author/$slug" params={paramsOf(id)}>
          <Name text={name} />
        </Link>
        <code className={styles.id} title={id}>
          {id}
        </code>
      </span>
    ),
  },
  { id: 'input', header: 'Input', align: 'end', cell: ({ pricing }) => <Price perToken={pricing.prompt} /> },
  {
    id: 'output',
    header: 'Output',
    align: 'end',
    cell: (model) => (isChat(model) ? <Price perToken={model.pricing.completion} /> : <Absent />),
  },
  {
    id: 'cached',
    header: 'Cached input',
    align: 'end',
    priority: 3,
    cell: ({ pricing: { input_cache_read: price } }) =>
      price === undefined ? <Absent /> : <Price perToken={price} />,
  },
  {
    id: 'context',
    header: 'Context',
    align: 'end',
    priority: 2,
    cell: ({ context_length: length, top_provider: { max_completion_tokens: output } }) => (
      <span className={styles.price}>
        {length === null ? <Absent /> : formatCount(length)}
        {output !== null && <span className={styles.muted}>{formatCount(output)} out</span>}
      </span>
    ),
  },
  {
    id: 'takes',
    header: 'Takes',
    priority: 3,
    cell: ({ architecture }) => architecture.input_modalities.join(', '),
  },
  {
    id: 'parameters',
    header: 'Parameters',
    priority: 3,
    cell: ({ supported_parameters: names }) =>
      names.length === 0 ? <Absent /> : <Name text={names.join(', ')} />,
  },
];

/** Only chat models have a price of their output. */
const isChat = ({ architecture }: Model): boolean => architecture.output_modalities.includes('text');

export function ModelsPage() {
  const { q, provider, show, kind } = route.useSearch();
  const providers = useQuery(providersQuery);
  const search = { q, kind, providers: provider, configured: show !== 'all' };
  const pages = useHeldPages({
    queryKey: ['models', 'list', search],
    load: (cursor, signal) => loadModels(search, cursor, signal),
    rowKey: ({ id }) => id,
    isLive: false,
  });
  return (
    <Page
      title="Models and providers"
      description="Prices are USD for a million tokens at the cheapest endpoint. A model shows all of its endpoints and their health."
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
