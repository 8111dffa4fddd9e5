// The models that guardrails leave to the keys of the person.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reachedModelsQuery } from '../../api/my-keys';
import { Section } from '../../components/display/section';
import { ModelId } from '../../components/display/values';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import { useSettled } from '../../components/form/use-settled';
import { formatCountOf } from '../../format';
import styles from './my-keys.module.css';

export function ReachedModels({ workspaceId }: { readonly workspaceId: string }) {
  const [search, setSearch] = useState('');
  const part = useSettled(search.trim());
  const { data, error, refetch } = useQuery({
    ...reachedModelsQuery(workspaceId, part),
    placeholderData: (former) => former,
  });
  return (
    <Section
      title="Models that I can call"
      description="As far as guardrails leave them, with a configured provider."
    >
      <div className={styles.models}>
        <input
          className={styles.search}
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          maxLength={200}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Placeholder lines={6} />
        ) : (
          <>
            <p className={styles.muted} role="status">
              {formatCountOf(data.total, 'model')}
              {data.total > data.models.length && `, the first ${data.models.length} are shown`}
            </p>
            {data.models.length > 0 && (
              <ul className={styles.list} tabIndex={0} aria-label="Models">
                {data.models.map(({ id }) => (
                  <li key={id}>
                    <ModelId id={id} />
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </Section>
  );
}
