// The budget of the person: the limit of the guardrail of all own keys, and what is spent of it.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Guardrail } from '../../api/guardrails';
import { ownSpendQuery } from '../../api/my-keys';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { SpendBar } from '../../components/display/spend-bar';
import { Name, Time } from '../../components/display/values';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import { windowAt } from './own-window';
import styles from './my-keys.module.css';

interface OwnBudgetProps {
  readonly workspaceId: string;
  readonly guardrail: Guardrail;
  readonly limit: number;
  readonly interval: NonNullable<Guardrail['reset_interval']>;
  readonly hashes: readonly string[] | null;
}

export function OwnBudget({ workspaceId, guardrail, limit, interval, hashes }: OwnBudgetProps) {
  const { start, end } = windowAt(interval, useNow());
  const includesByok = guardrail.include_byok_in_budgets;
  const { data, error, refetch } = useQuery(ownSpendQuery(workspaceId, { hashes, start, includesByok }));
  return (
    <Section
      title="My budget"
      description="All your keys in the workspace together. Beside it each key has its own limit."
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Placeholder lines={1} />
      ) : (
        <div className={styles.budget}>
          <SpendBar label="Spend of all my keys" spend={data} limit={limit} />
          <span className={styles.muted}>
            Resets <Time at={end} isRelative />
          </span>
          <span className={styles.muted}>
            Set by the guardrail{' '}
            <Link to="/guardrails/$id" params={{ id: guardrail.id }}>
              <Name text={guardrail.name} />
            </Link>
          </span>
        </div>
      )}
    </Section>
  );
}
