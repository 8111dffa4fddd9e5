// The spend of a month or a range of days: by day, and in groups. Chart, table and file have the same answer.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { keyNamesQuery } from '../../api/key-names';
import { providersQuery } from '../../api/providers';
import { usageQuery } from '../../api/usage';
import type { Sum, Usage, UsageScope } from '../../api/usage';
import { workspacesQuery } from '../../api/workspaces';
import { useWorkspaceScope } from '../../app/workspace';
import { Page } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Money } from '../../components/display/values';
import { ErrorState, Notice } from '../../components/feedback/states';
import { formatCount, roundUsd } from '../../format';
import { periodOf } from './periods';
import type { Period } from './periods';
import { DIMENSIONS } from './groups';
import type { GroupNames } from './groups';
import { UsageDays } from './usage-days';
import { UsageFilters } from './usage-filters';
import { UsageGroups } from './usage-groups';
import type { Group } from './usage-search';

const route = getRouteApi('/app/management/usage');

export function UsagePage() {
  const search = route.useSearch();
  // The months are those of the moment at which the page was opened.
  const [now] = useState(Date.now);
  const period = useMemo(() => periodOf(search, now), [search, now]);
  return (
    <Page title="Usage" description="Spend, calls and tokens by day and in groups. Days are those of UTC.">
      <UsageFilters now={now} />
      {typeof period === 'string' ? (
        <Notice tone="info">{period}</Notice>
      ) : (
        <UsageOfPeriod period={period} now={now} />
      )}
    </Page>
  );
}

function UsageOfPeriod({ period, now }: { readonly period: Period; readonly now: number }) {
  const { by = 'model', and, measure = 'spend' } = route.useSearch();
  const scope = useWorkspaceScope();
  const groups: readonly Group[] = and === undefined ? [by] : [by, and];
  const workspaceId = groups.includes('workspace') ? null : scope;
  const question: UsageScope = {
    start: period.start,
    end: period.end,
    workspaceId,
    dimensions: groups.map((group) => DIMENSIONS[group]),
  };
  const usage = useQuery(usageQuery(question));
  const names = useGroupNames(groups, workspaceId);
  if (usage.error !== null && usage.data === undefined)
    return <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />;
  return (
    <>
      <Totals usage={usage.data} />
      {usage.data?.isWhole === false && (
        <Notice tone="warning">
          There are more groups than the service returns for one hour: those with the least spend are missing.
          Group by one thing, or choose one workspace.
        </Notice>
      )}
      <UsageDays {...{ period, now, names, groups }} measure={measure} usage={usage.data} />
      <UsageGroups {...{ period, groups, names }} scope={question} usage={usage.data} />
    </>
  );
}

/** Names of keys, workspaces and providers, where a group needs them. */
function useGroupNames(groups: readonly Group[], workspaceId: string | null): GroupNames {
  const workspaces = useQuery(workspacesQuery);
  const keys = useQuery({
    ...keyNamesQuery(workspaceId),
    enabled: groups.includes('key'),
  });
  const providers = useQuery({ ...providersQuery, enabled: groups.includes('provider') });
  // The same object while nothing arrives: the chart is drawn again for other ones.
  return useMemo(
    () => ({
      key: keys.data ?? new Map(),
      workspace: new Map(workspaces.data?.map(({ id, name }) => [id, name])),
      provider: new Map(providers.data?.map(({ slug, name }) => [slug, name])),
    }),
    [keys.data, workspaces.data, providers.data],
  );
}

function Totals({ usage }: { readonly usage: Usage | undefined }) {
  const days = [...(usage?.days.values() ?? [])];
  const sum = (metric: Sum) => roundUsd(days.reduce((total, day) => total + day[metric], 0));
  const calls = sum('request_count');
  return (
    <StatTiles>
      <StatTile label="Spend" value={usage && <Money usd={sum('total_usage')} />} detail="Charged to keys" />
      <StatTile
        label="Own provider keys"
        value={usage && <Money usd={sum('byok_usage')} />}
        detail="Billed by the providers"
      />
      <StatTile
        label="Calls"
        value={usage && formatCount(calls)}
        detail={`${formatCount(sum('error_count'))} failed${
          usage?.hasRefusedDays ? `, ${formatCount(sum('refused_count'))} refused` : ''
        }`}
      />
      <StatTile
        label="Tokens"
        value={usage && formatCount(sum('total_tokens'))}
        detail="Prompts and answers"
      />
    </StatTiles>
  );
}
