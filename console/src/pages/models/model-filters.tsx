import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Provider } from '../../api/providers';
import { readModelSearch } from './model-search';
import styles from './models.module.css';

const route = getRouteApi('/app/management/models');
const TYPING_MS = 250;

export function ModelFilters({ providers }: { readonly providers: readonly Provider[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.q ?? '');
  const set = (name: string, value: string | undefined) =>
    void navigate({
      search: (before) => ({ ...before, ...readModelSearch({ ...before, [name]: value }) }),
      replace: true,
    });
  useEffect(() => {
    const trimmed = text.trim();
    if (trimmed === (search.q ?? '')) return undefined;
    const timer = setTimeout(() => set('q', trimmed), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className={styles.filters}>
      <input
        className={styles.search}
        type="search"
        aria-label="Search models"
        placeholder="Search models by id or name"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <select
        className={styles.select}
        aria-label="Kind"
        value={search.kind ?? ''}
        onChange={({ target }) => set('kind', target.value)}
      >
        <option value="">All kinds</option>
        <option value="text">Chat</option>
        <option value="embeddings">Embeddings</option>
      </select>
      <select
        className={styles.select}
        aria-label="Provider"
        value={search.provider ?? ''}
        onChange={({ target }) => set('provider', target.value)}
      >
        <option value="">All providers</option>
        {providers.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={search.show === 'all'}
          onChange={({ target }) => set('show', target.checked ? 'all' : undefined)}
        />
        Also without a configured provider
      </label>
    </div>
  );
}
