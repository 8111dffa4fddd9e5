// The limits above the keys: budgets of the workspace and credits of the account, with what is spent of each.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { analyticsQuery, numberOf, withinWorkspace } from '../../api/analytics';
import { isoTime } from '../../api/iso-time';
import { budgetsQuery } from '../../api/budgets';
import type { Budget } from '../../api/budgets';
import { creditsQuery } from '../../api/credits';
import { joinQueries } from '../../components/data/joined-queries';
import { useCan } from '../../app/rights';
import { Section } from '../../components/display/section';
import { SpendBar } from '../../components/display/spend-bar';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import styles from './overview.module.css';
import { windowStarts } from './ranges';

const NAMES = {
  daily: 'Daily budget',
  weekly: 'Weekly budget',
  monthly: 'Monthly budget',
  lifetime: 'Lifetime budget',
} as const;

export function useWindowSpend(workspaceId: string | null, window: 'daily' | 'monthly') {
  return useQuery({
    ...analyticsQuery(['window-spend', workspaceId, window], (now) => ({
      metrics: ['total_usage'],
      filters: withinWorkspace(workspaceId),
      time_range: { start: isoTime(windowStarts(now)[window]), end: isoTime(now + 1000) },
    })),
    select: ([row]) => numberOf(row, 'total_usage'),
    refetchInterval: 15_000,
  });
}

export function SpendLimits({ workspaceId }: { readonly workspaceId: string }) {
  const can = useCan();
  const canCredits = can('credits.read', null);
  const budgets = useQuery(budgetsQuery(workspaceId));
  const credits = useQuery({ ...creditsQuery, enabled: canCredits });
  const isMetered = credits.data?.is_metered === true;
  const isLoaded = budgets.data !== undefined && (!canCredits || credits.data !== undefined);
  const { error, retry } = joinQueries(budgets, credits);
  return (
    <Section
      title="Limits"
      actions={
        <>
          <Link to="/workspaces/$id" params={{ id: workspaceId }} className={styles.more}>
            Budgets
          </Link>
          {can('notifications.read') && (
            <Link to="/alerts" className={styles.more}>
              Alerts
            </Link>
          )}
        </>
      }
    >
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {error === null && !isLoaded && <Placeholder />}
      {budgets.data && isLoaded && (
        <ul className={styles.limits}>
          {budgets.data.data.map((budget) => (
            <BudgetLine key={budget.id} budget={budget} />
          ))}
          {credits.data && isMetered && (
            <li className={styles.limit}>
              <span>Credits of the account</span>
              <SpendBar
                label="Credits of the account"
                spend={credits.data.total_usage}
                limit={credits.data.total_credits}
              />
            </li>
          )}
          {budgets.data.data.length === 0 && !isMetered && (
            <li className={styles.noLimit}>
              {canCredits ? 'No budget and no credit limit.' : 'No budget.'} Only the limits of keys stop
              calls in this workspace.
            </li>
          )}
        </ul>
      )}
    </Section>
  );
}

function BudgetLine({ budget }: { readonly budget: Budget }) {
  const name = NAMES[budget.reset_interval ?? 'lifetime'];
  return (
    <li className={styles.limit}>
      <span>{name}</span>
      <SpendBar label={name} spend={budget.spend_usd} limit={budget.limit_usd} />
    </li>
  );
}
