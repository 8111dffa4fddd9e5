// Spend, calls and health of a workspace, or spend and calls of all; a setup guide until its first call has arrived.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { analyticsQuery, numberOf, numberOrNull, refusedShare, withinWorkspace } from '../../api/analytics';
import { useCan } from '../../app/rights';
import { useWorkspaceScope } from '../../app/workspace';
import { joinQueries } from '../../components/data/joined-queries';
import { Page } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Money } from '../../components/display/values';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import { formatCount, formatDuration, formatPercent } from '../../format';
import { Health } from './health';
import styles from './overview.module.css';
import type { Range } from './overview-search';
import { RangeLinks } from './range-links';
import { RANGE_DEFINITIONS, timeRangeOf } from './ranges';
import { hasSucceeded, useFirstCalls } from './first-calls';
import { SpendLimits, useWindowSpend } from './spend-limits';
import { UsageChart } from './usage-chart';
import { UsageTable } from './usage-table';

// It is gone after the first call, and most of it is needed by no other part of the page.
const SetupGuide = lazy(async () => ({ default: (await import('./setup-guide')).SetupGuide }));

const route = getRouteApi('/app/management/');

export function OverviewPage() {
  const workspaceId = useWorkspaceScope();
  const { range = 'day' } = route.useSearch();
  return (
    <Page title="Overview" actions={<RangeLinks range={range} />}>
      <OverviewContent key={workspaceId} workspaceId={workspaceId} />
    </Page>
  );
}

function OverviewContent({ workspaceId }: { readonly workspaceId: string | null }) {
  const { range = 'day', by = 'model', measure = 'calls', each, share } = route.useSearch();
  const [isGuided, setGuided] = useState(false);
  // Its steps are changes.
  const canSetUp = useCan()('destinations.change', workspaceId);
  const calls = useFirstCalls(workspaceId, isGuided);
  // Once shown, the guide stays until the page is left, so that the reader sees the first call arrive.
  if (canSetUp && !isGuided && calls.data?.some(hasSucceeded) === false) setGuided(true);
  if (calls.data === undefined && calls.error)
    return <ErrorState error={calls.error} onRetry={() => void calls.refetch()} />;
  return (
    <>
      {isGuided && workspaceId !== null && (
        <Suspense fallback={<Placeholder lines={12} />}>
          <SetupGuide workspaceId={workspaceId} calls={calls.data ?? []} />
        </Suspense>
      )}
      {/* Before it is known as well, so that all questions are on their way at once. */}
      {(!canSetUp || calls.data?.length !== 0) && (
        <>
          <Figures workspaceId={workspaceId} range={range} />
          <UsageChart {...{ workspaceId, range, measure, each, share }} />
          {/* Limits and destinations are those of one workspace. */}
          {workspaceId !== null && (
            <div className={styles.columns}>
              <SpendLimits workspaceId={workspaceId} />
              <Health workspaceId={workspaceId} />
            </div>
          )}
          <UsageTable workspaceId={workspaceId} range={range} by={by} />
        </>
      )}
    </>
  );
}

function Figures({ workspaceId, range }: { readonly workspaceId: string | null; readonly range: Range }) {
  const today = useWindowSpend(workspaceId, 'daily');
  const month = useWindowSpend(workspaceId, 'monthly');
  const totals = useQuery({
    ...analyticsQuery(['totals', workspaceId, range], (now) => ({
      metrics: ['request_count', 'error_count', 'refused_count', 'error_rate', 'latency_p50', 'latency_p95'],
      filters: withinWorkspace(workspaceId),
      time_range: timeRangeOf(range, now),
    })),
    refetchInterval: 15_000,
  });
  const { error, retry } = joinQueries(today, month, totals);
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  const row = totals.data?.[0];
  const latency = (metric: string) => {
    const value = numberOrNull(row, metric);
    return value === null ? '–' : formatDuration(value);
  };
  const isLoaded = totals.data !== undefined;
  const { label } = RANGE_DEFINITIONS[range];
  return (
    <StatTiles>
      <StatTile
        label="Spend today"
        value={today.data === undefined ? undefined : <Money usd={today.data} />}
        detail="Since 00:00 UTC"
      />
      <StatTile
        label="Spend this month"
        value={month.data === undefined ? undefined : <Money usd={month.data} />}
        detail="Since the 1st, UTC"
      />
      <StatTile
        label="Calls"
        value={isLoaded ? formatCount(numberOf(row, 'request_count')) : undefined}
        detail={label}
      />
      <StatTile
        label="Error rate"
        value={isLoaded ? formatPercent(numberOf(row, 'error_rate')) : undefined}
        detail={`${formatCount(numberOf(row, 'error_count'))} failed`}
      />
      <StatTile
        label="Refused"
        value={isLoaded ? formatCount(numberOf(row, 'refused_count')) : undefined}
        detail={
          <Link to="/refusals" search={{ range }}>
            {formatPercent(refusedShare(row) ?? 0)} of all calls
          </Link>
        }
      />
      <StatTile
        label="Latency p50"
        value={isLoaded ? latency('latency_p50') : undefined}
        detail={`p95 ${latency('latency_p95')}`}
      />
    </StatTiles>
  );
}
