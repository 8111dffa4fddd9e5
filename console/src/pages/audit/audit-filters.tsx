import { getRouteApi } from '@tanstack/react-router';
import { Button } from '../../components/actions/button';
import { DraftInput, LAST_DAY } from '../../components/form/draft-input';
import { ACTIONS, OBJECT_TYPES, readAuditSearch } from './audit-search';
import { ACTION_NAMES, TYPE_NAMES } from './audit-words';
import styles from './audit.module.css';

const route = getRouteApi('/app/management/audit');

export function AuditFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: string, value: string) =>
    void navigate({
      search: (before) => ({ ...before, ...readAuditSearch({ ...before, [name]: value }) }),
      replace: true,
    });
  const isFiltered = Object.values(readAuditSearch({ ...search })).some((value) => value !== undefined);
  return (
    <div className={styles.filters}>
      <label className={styles.filter}>
        <span>Object</span>
        <select value={search.type ?? ''} onChange={({ target }) => set('type', target.value)}>
          <option value="">All</option>
          {OBJECT_TYPES.map((type) => (
            <option key={type} value={type}>
              {TYPE_NAMES[type]}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.filter}>
        <span>Action</span>
        <select value={search.action ?? ''} onChange={({ target }) => set('action', target.value)}>
          <option value="">All</option>
          {ACTIONS.map((action) => (
            <option key={action} value={action}>
              {ACTION_NAMES[action]}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.filter}>
        <span>Workspace</span>
        <select value={search.scope ?? ''} onChange={({ target }) => set('scope', target.value)}>
          <option value="">This one</option>
          <option value="all">All of the account</option>
        </select>
      </label>
      <Text
        label="From"
        type="date"
        max={LAST_DAY}
        value={search.from}
        onChange={(from) => set('from', from)}
      />
      <Text label="To" type="date" max={LAST_DAY} value={search.to} onChange={(to) => set('to', to)} />
      <Text label="Id of the object" value={search.object} onChange={(object) => set('object', object)} />
      {isFiltered && (
        <Button
          variant="ghost"
          onClick={() => void navigate({ search: (before) => ({ workspace: before.workspace }) })}
        >
          Clear
        </Button>
      )}
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly type?: 'date';
  readonly max?: string;
  /** The value in the address. */
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

function Text({ label, value = '', onChange, ...input }: TextProps) {
  return (
    <label className={styles.filter}>
      <span>{label}</span>
      <DraftInput {...input} spellCheck={false} value={value} onApply={onChange} />
    </label>
  );
}
