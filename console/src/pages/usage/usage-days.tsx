// One measure by day, with the groups that spent most.
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Sum, Usage } from '../../api/usage';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { TimeSeries } from '../../components/chart/lazy-chart';
import { Section } from '../../components/display/section';
import { EmptyState, Placeholder } from '../../components/feedback/states';
import { formatCount, formatCountShort, formatAmount, formatMoneyShort, roundUsd } from '../../format';
import { LABELS, nameOf } from './groups';
import type { GroupNames } from './groups';
import { DAY_MS, daysOf } from './periods';
import type { Period } from './periods';
import { MEASURES } from './usage-search';
import type { Group, UsageMeasure } from './usage-search';

interface MeasureDefinition {
  readonly name: string;
  readonly label: string;
  readonly metric: Sum;
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number) => string;
  readonly isWhole: boolean;
}

const COUNT = { format: formatCount, formatAxis: formatCountShort, isWhole: true };
const CHARTS: Readonly<Record<UsageMeasure, MeasureDefinition>> = {
  spend: {
    name: 'Spend',
    label: 'Spend in USD',
    metric: 'total_usage',
    format: formatAmount,
    formatAxis: formatMoneyShort,
    isWhole: false,
  },
  calls: { name: 'Calls', label: 'Calls', metric: 'request_count', ...COUNT },
  tokens: { name: 'Tokens', label: 'Tokens of prompts and answers', metric: 'total_tokens', ...COUNT },
};

interface UsageDaysProps {
  readonly period: Period;
  readonly now: number;
  readonly groups: readonly Group[];
  readonly names: GroupNames;
  readonly measure: UsageMeasure;
  readonly usage: Usage | undefined;
}

export function UsageDays({ usage, groups, measure, ...rest }: UsageDaysProps) {
  const [by = 'model'] = groups;
  return (
    <Section
      title="By day"
      description={`The five with the highest spend by ${LABELS[by].toLowerCase()}, and all others.`}
      actions={
        <ChoiceLinks label="Measure">
          {MEASURES.map((choice) => (
            <Link
              key={choice}
              from="/usage"
              to="."
              search={(search) => ({ ...search, measure: choice })}
              aria-current={choice === measure ? 'true' : undefined}
            >
              {CHARTS[choice].name}
            </Link>
          ))}
        </ChoiceLinks>
      }
    >
      {usage === undefined ? (
        <Placeholder lines={8} />
      ) : usage.days.size === 0 ? (
        <EmptyState title="No call in this period">Choose another period, or all workspaces.</EmptyState>
      ) : (
        <Chart {...{ ...rest, usage, by }} chart={CHARTS[measure]} />
      )}
    </Section>
  );
}

interface ChartProps extends Pick<UsageDaysProps, 'period' | 'now' | 'names'> {
  readonly usage: Usage;
  readonly by: Group;
  readonly chart: MeasureDefinition;
}

function Chart({ period, now, names, usage, by, chart }: ChartProps) {
  const { metric, name: _name, ...looks } = chart;
  const times = useMemo(() => daysOf(period, now), [period, now]);
  const series = useMemo(() => {
    const leaders = usage.leaders.map(({ value, days }) => ({
      name: nameOf(by, value, names),
      values: times.map((time) => days.get(time)?.[metric] ?? 0),
    }));
    const rest = times.map((time, index) => {
      const shown = leaders.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
      // Calls that arrive between two questions are counted by one of them.
      return Math.max(0, roundUsd((usage.days.get(time)?.[metric] ?? 0) - shown));
    });
    return rest.some((value) => value > 0) ? [...leaders, { name: 'All others', values: rest }] : leaders;
  }, [usage, times, metric, by, names]);
  return <TimeSeries {...{ times, series, ...looks }} period={DAY_MS} isDaily shape="bars" />;
}
