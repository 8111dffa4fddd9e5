// The groups as a table, and as a file with the same rows.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { csvOf, saveCsv } from '../../api/csv';
import { isoTime } from '../../api/iso-time';
import { loadAllGroups, metricsOf } from '../../api/usage';
import type { Sum, Usage, UsageGroup, UsageScope } from '../../api/usage';
import { Button } from '../../components/actions/button';
import { SaveButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Section } from '../../components/display/section';
import { ModelId, Money, Name } from '../../components/display/values';
import { EmptyState } from '../../components/feedback/states';
import { formatCount } from '../../format';
import type { GenerationSearch } from '../generations/generation-search';
import { DIMENSIONS, LABELS, nameOf } from './groups';
import type { GroupNames } from './groups';
import type { Period } from './periods';
import type { Group } from './usage-search';

const SHOWN_FIRST = 100;

const countColumn = (sum: Sum, header: string, priority: 1 | 2 | 3): Column<UsageGroup> => ({
  id: sum,
  header,
  align: 'end',
  priority,
  cell: ({ sums }) => formatCount(sums[sum]),
});

const amountColumn = (sum: Sum, header: string, priority: 1 | 2 | 3): Column<UsageGroup> => ({
  id: sum,
  header,
  align: 'end',
  priority,
  cell: ({ sums }) => <Money usd={sums[sum]} />,
});

/** Those that nothing was measured in stay away: with two groups there is room for few. */
function sumColumns(groups: readonly Group[], usage: Usage | undefined): readonly Column<UsageGroup>[] {
  const has = (sum: Sum) => usage?.groups.some(({ sums }) => sums[sum] > 0) ?? false;
  return [
    amountColumn('total_usage', 'Spend', 1),
    ...(has('byok_usage') ? [amountColumn('byok_usage', 'Own provider keys', 3)] : []),
    countColumn('request_count', 'Calls', groups.length > 1 ? 2 : 1),
    countColumn('error_count', 'Failed', 2),
    ...(usage?.hasRefusedGroups ? [countColumn('refused_count', 'Refused', 2)] : []),
    countColumn('prompt_tokens', 'Prompt tokens', 3),
    ...(has('completion_tokens') ? [countColumn('completion_tokens', 'Answer tokens', 3)] : []),
  ];
}

interface UsageGroupsProps {
  readonly scope: UsageScope;
  readonly period: Period;
  readonly groups: readonly Group[];
  readonly names: GroupNames;
  readonly usage: Usage | undefined;
}

export function UsageGroups({ scope, period, groups, names, usage }: UsageGroupsProps) {
  const [isWholeShown, setWholeShown] = useState(false);
  const rows = usage?.groups;
  const hasRefused = usage?.hasRefusedGroups ?? false;
  const others: readonly UsageGroup[] = usage?.others ? [{ values: [], sums: usage.others }] : [];
  const shown = isWholeShown ? rows : rows?.slice(0, SHOWN_FIRST);
  const title = `By ${groups.map((group) => LABELS[group].toLowerCase()).join(' and ')}`;
  const save = async () => {
    if (usage === undefined) return { isWhole: false };
    const all = await loadAllGroups(scope, usage);
    saveCsv(`usage-${period.name}-by-${groups.join('-')}`, [usageCsv(groups, all.groups, names, hasRefused)]);
    return all;
  };
  const hidden = (rows?.length ?? 0) - (shown?.length ?? 0);
  return (
    <Section
      title={title}
      description={
        others.length === 0
          ? 'Highest spend first.'
          : 'Highest spend first, the rest in one row. The file has each.'
      }
      isFlush
      actions={rows && <SaveButton save={save} />}
    >
      <DataTable
        caption={title}
        columns={[
          ...groups.map((group, position) => groupColumn(group, position, { groups, names, period })),
          ...sumColumns(groups, usage),
        ]}
        rows={hidden > 0 ? shown : shown && [...shown, ...others]}
        rowKey={({ values }) => JSON.stringify(values)}
        empty={
          <EmptyState title="No call in this period">Choose another period, or all workspaces.</EmptyState>
        }
        footer={
          rows && (
            <>
              <span>{`${formatCount(shown?.length ?? 0)} of ${formatCount(rows.length)} shown`}</span>
              {hidden > 0 && <Button onClick={() => setWholeShown(true)}>Show all</Button>}
            </>
          )
        }
      />
    </Section>
  );
}

function groupColumn(
  group: Group,
  position: number,
  { groups, names, period }: Pick<UsageGroupsProps, 'groups' | 'names' | 'period'>,
): Column<UsageGroup> {
  return {
    id: group,
    header: LABELS[group],
    cell: ({ values }) =>
      values.length > 0 ? (
        <GroupCell
          {...{ group, names }}
          value={values[position] ?? null}
          calls={callsOf(groups, values, period)}
        />
      ) : (
        position === 0 && 'All others'
      ),
  };
}

/** The calls of one row in the period. */
function callsOf(
  groups: readonly Group[],
  values: UsageGroup['values'],
  period: Period,
): GroupCellProps['calls'] {
  const filters: Partial<Record<Group, string>> = Object.fromEntries(
    groups.map((group, position) => [group, values[position] ?? undefined]),
  );
  return { ...filters, from: isoTime(period.start), to: isoTime(period.end) };
}

/** The rows of the table with all sums, exact; ids beside names. */
function usageCsv(
  groups: readonly Group[],
  rows: readonly UsageGroup[],
  names: GroupNames,
  hasRefused: boolean,
): string {
  const shown = metricsOf(hasRefused);
  const isNamed = (group: Group) => group === 'key' || group === 'workspace';
  return csvOf(
    [
      ...groups.flatMap((group) =>
        isNamed(group) ? [`${group}_name`, DIMENSIONS[group]] : [DIMENSIONS[group]],
      ),
      ...shown,
    ],
    rows.map(({ values, sums }) => [
      ...groups.flatMap((group, position) => {
        const value = values[position] ?? null;
        return isNamed(group) ? [nameOf(group, value, names), value] : [value];
      }),
      ...shown.map((sum) => sums[sum]),
    ]),
  );
}

interface GroupCellProps {
  readonly group: Group;
  readonly value: string | null;
  readonly names: GroupNames;
  readonly calls: GenerationSearch & { readonly workspace?: string };
}

function GroupCell({ group, value, names, calls }: GroupCellProps) {
  const text = nameOf(group, value, names);
  const name = group === 'model' ? <ModelId id={text} /> : <Name text={text} />;
  if (value === null) return name;
  if (group === 'workspace') {
    return (
      <Link to="/workspaces/$id" params={{ id: value }}>
        {name}
      </Link>
    );
  }
  return (
    <Link to="/generations" search={calls}>
      {name}
    </Link>
  );
}
