// Above the list of keys: its search, its state and its order.
import { FilterCheck, FilterRow, FilterSelect } from '../../components/form/filter-row';
import { SearchField } from '../../components/form/search-field';
import { ORDERS, STATES } from './key-search';
import type { KeySearch } from './key-search';

type State = (typeof STATES)[number];
type Order = (typeof ORDERS)[number];

const STATE_NAMES: Readonly<Record<State, string>> = {
  stopped: 'Stopped by a limit',
  expiring: 'Expire within 7 days',
  unused: 'Unused for 30 days',
  disabled: 'Disabled keys',
};
const ORDER_NAMES: Readonly<Record<Order, string>> = {
  name: 'By name',
  spend: 'Highest spend first',
  last_used: 'Last used first',
  expires: 'First to expire first',
};

interface KeyFiltersProps {
  readonly search: KeySearch;
  readonly onChange: (changed: KeySearch) => void;
}

export function KeyFilters({ search: { q, disabled, state, sort }, onChange }: KeyFiltersProps) {
  return (
    <FilterRow label="Filter keys">
      <SearchField
        label="Search keys"
        placeholder="Search keys by name"
        value={q}
        maxLength={200}
        onSearch={(text) => onChange({ q: text })}
      />
      <FilterSelect
        label="State"
        any="Any state"
        value={state}
        choices={STATES.map((value) => ({ value, label: STATE_NAMES[value] }))}
        onChange={(value) => onChange({ state: value as State | undefined })}
      />
      <FilterSelect
        label="Order"
        any="Newest first"
        value={sort}
        choices={ORDERS.map((value) => ({ value, label: ORDER_NAMES[value] }))}
        onChange={(value) => onChange({ sort: value as Order | undefined })}
      />
      {state === undefined && (
        <FilterCheck
          label="Show disabled"
          checked={disabled !== 'hidden'}
          onChange={(isChecked) => onChange({ disabled: isChecked ? undefined : 'hidden' })}
        />
      )}
    </FilterRow>
  );
}
