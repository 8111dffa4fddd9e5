import { getRouteApi } from '@tanstack/react-router';
import { Button } from '../../components/actions/button';
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
      <label className={styles.filter}>
        <span>From</span>
        <input type="date" value={search.from ?? ''} onChange={({ target }) => set('from', target.value)} />
      </label>
      <label className={styles.filter}>
        <span>To</span>
        <input type="date" value={search.to ?? ''} onChange={({ target }) => set('to', target.value)} />
      </label>
      <label className={styles.filter}>
        <span>Id of the object</span>
        <input
          defaultValue={search.object ?? ''}
          key={search.object}
          spellCheck={false}
          onBlur={({ target }) => set('object', target.value.trim())}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Enter') set('object', currentTarget.value.trim());
          }}
        />
      </label>
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
