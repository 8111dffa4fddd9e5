import { getRouteApi } from '@tanstack/react-router';
import type { Provider } from '../../api/providers';
import { FilterCheck, FilterRow, FilterSelect } from '../../components/form/filter-row';
import { SearchField } from '../../components/form/search-field';
import { readModelSearch } from './model-search';

const route = getRouteApi('/app/management/models');

const KINDS = [
  { value: 'text', label: 'Chat' },
  { value: 'embeddings', label: 'Embeddings' },
];

export function ModelFilters({ providers }: { readonly providers: readonly Provider[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: string, value: string | undefined) =>
    void navigate({
      search: (before) => ({ ...before, ...readModelSearch({ ...before, [name]: value }) }),
      replace: true,
    });
  return (
    <FilterRow label="Filter models">
      <SearchField
        label="Search models"
        placeholder="Search models by id or name"
        value={search.q}
        onSearch={(text) => set('q', text)}
      />
      <FilterSelect
        label="Kind"
        any="All kinds"
        value={search.kind}
        choices={KINDS}
        onChange={(kind) => set('kind', kind)}
      />
      <FilterSelect
        label="Provider"
        any="All providers"
        value={search.provider}
        choices={providers.map(({ slug, name }) => ({ value: slug, label: name }))}
        onChange={(provider) => set('provider', provider)}
      />
      <FilterCheck
        label="Also without a configured provider"
        checked={search.show === 'all'}
        onChange={(isChecked) => set('show', isChecked ? 'all' : undefined)}
      />
    </FilterRow>
  );
}
