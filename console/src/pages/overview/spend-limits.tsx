// The limits above the keys: budgets of the workspace and credits of the account, with what is spent of each.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { analyticsQuery, isoTime, numberOf } from '../../api/analytics';
import { budgetsQuery } from '../../api/budgets';
import { creditsQuery } from '../../api/credits';
import { Section } from '../../components/display/section';
import { SpendBar } from '../../components/display/spend-bar';
import { Money } from '../../components/display/values';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import styles from './overview.module.css';
import { windowStarts } from './ranges';

const NAMES = { daily: 'Daily budget', weekly: 'Weekly budget', monthly: 'Monthly budget' } as const;
type Window = keyof typeof NAMES;

export function useWindowSpend(workspaceId: string, window: Window, includesByok = false) {
  return useQuery({
    ...analyticsQuery(['window-spend', workspaceId, window, includesByok], (now) => ({
      metrics: ['total_usage', 'byok_usage', 'request_count'],
      filters: [{ field: 'workspace', operator: 'eq', value: workspaceId }],
      time_range: { start: isoTime(windowStarts(now)[window]), end: isoTime(now + 1000) },
    })),
    select: ([row]) => numberOf(row, 'total_usage') + (includesByok ? numberOf(row, 'byok_usage') : 0),
    refetchInterval: 15_000,
  });
}

export function SpendLimits({ workspaceId }: { readonly workspaceId: string }) {
  const budgets = useQuery(budgetsQuery(workspaceId));
  const credits = useQuery(creditsQuery);
  const error = budgets.error ?? credits.error;
  const includesByok = budgets.data?.include_byok_in_budgets ?? false;
  return (
    <Section
      title="Limits"
      actions={
        <Link to="/workspaces" className={styles.more}>
          Budgets
        </Link>
      }
    >
      {error !== null && <ErrorState error={error} onRetry={() => void budgets.refetch()} />}
      {error === null && (budgets.data === undefined || credits.data === undefined) && <Placeholder />}
      {budgets.data && credits.data && (
        <ul className={styles.limits}>
          {budgets.data.data.map(({ id, limit_usd: limit, reset_interval: interval }) =>
            interval === null ? (
              <li key={id} className={styles.limit}>
                <span>Lifetime budget</span>
                <Money usd={limit} />
              </li>
            ) : (
              <BudgetLine key={id} {...{ workspaceId, limit, includesByok }} window={interval} />
            ),
          )}
          {credits.data.is_metered && (
            <li className={styles.limit}>
              <span>Credits of the account</span>
              <SpendBar
                label="Credits of the account"
                spend={credits.data.total_usage}
                limit={credits.data.total_credits}
              />
            </li>
          )}
          {budgets.data.data.length === 0 && !credits.data.is_metered && (
            <li className={styles.noLimit}>
              No budget and no credit limit. Only the limits of keys stop calls in this workspace.
            </li>
          )}
        </ul>
      )}
    </Section>
  );
}

interface BudgetLineProps {
  readonly workspaceId: string;
  readonly window: Window;
  readonly limit: number;
  readonly includesByok: boolean;
}

function BudgetLine({ workspaceId, window, limit, includesByok }: BudgetLineProps) {
  const { data } = useWindowSpend(workspaceId, window, includesByok);
  return (
    <li className={styles.limit}>
      <span>{NAMES[window]}</span>
      {data === undefined ? (
        <Placeholder lines={1} />
      ) : (
        <SpendBar label={NAMES[window]} spend={data} limit={limit} />
      )}
    </li>
  );
}
