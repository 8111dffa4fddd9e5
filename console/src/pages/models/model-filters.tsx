import { getRouteApi } from '@tanstack/react-router';
import type { Provider } from '../../api/providers';
import { FilterRow, FilterSelect } from '../../components/form/filter-row';
import { SearchField } from '../../components/form/search-field';
import { KIND_WORDS } from './catalogue/documents';
import { readModelSearch } from './model-search';

const route = getRouteApi('/app/management/models');

const SOURCES = [
  { value: 'operator', label: 'Changed here' },
  { value: 'imported', label: 'Imported' },
  { value: 'file', label: 'In CATALOGUE_FILE' },
  { value: 'shipped', label: 'Shipped' },
];
const SHOWN = [
  { value: 'all', label: 'Also without a configured provider' },
  { value: 'disabled', label: 'Disabled' },
];
const KINDS = Object.entries(KIND_WORDS).map(([value, label]) => ({ value, label }));

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
      <FilterSelect
        label="Source"
        any="Every source"
        value={search.source}
        choices={SOURCES}
        onChange={(source) => set('source', source)}
      />
      <FilterSelect
        label="Show"
        any="With a configured provider"
        value={search.show}
        choices={SHOWN}
        onChange={(show) => set('show', show)}
      />
    </FilterRow>
  );
}
