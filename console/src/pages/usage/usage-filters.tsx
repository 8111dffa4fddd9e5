// The period and the groups. They live in the address.
import { getRouteApi } from '@tanstack/react-router';
import { Section } from '../../components/display/section';
import { DraftInput, LAST_DAY } from '../../components/form/draft-input';
import { FilterRow, FilterSelect } from '../../components/form/filter-row';
import { formatUtcMonth } from '../../format';
import { LABELS } from './groups';
import { recentMonths } from './periods';
import { GROUPS, readUsageSearch } from './usage-search';
import type { UsageSearch } from './usage-search';
import styles from './usage.module.css';

const route = getRouteApi('/app/management/usage');

const OWN = 'own';

export function UsageFilters({ now }: { readonly now: number }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Partial<Record<keyof UsageSearch, string | undefined>>) =>
    void navigate({
      search: (former) => ({ ...former, ...readUsageSearch({ ...search, ...changed }) }),
      replace: true,
    });
  const { by = 'model', and, month, from, to, scope } = search;
  const isOwn = from !== undefined || to !== undefined;
  const [thisMonth, lastMonth, ...others] = recentMonths(now);
  const older =
    month === undefined || month === 'last' || others.includes(month) ? others : [...others, month];
  const groupsWorkspaces = by === 'workspace' || and === 'workspace';
  return (
    <Section title="Period and groups" isFlush>
      <FilterRow label="Filter usage">
        <span className={styles.choice}>
          <span aria-hidden="true">Period</span>
          <FilterSelect
            label="Period"
            any={`This month, ${formatUtcMonth(thisMonth ?? '')}`}
            value={isOwn ? OWN : month}
            choices={[
              { value: 'last', label: `Last month, ${formatUtcMonth(lastMonth ?? '')}` },
              ...older.map((value) => ({ value, label: formatUtcMonth(value) })),
              { value: OWN, label: 'Own range of days' },
            ]}
            onChange={(value) =>
              change(
                value === OWN
                  ? {
                      month: undefined,
                      from: `${thisMonth}-01`,
                      to: new Date(now).toISOString().slice(0, 10),
                    }
                  : { month: value, from: undefined, to: undefined },
              )
            }
          />
        </span>
        {isOwn && (
          <>
            <Day label="First day" value={from} onApply={(day) => change({ from: day })} />
            <Day label="Last day" value={to} onApply={(day) => change({ to: day })} />
          </>
        )}
        <span className={styles.choice}>
          <span aria-hidden="true">Group by</span>
          <FilterSelect
            label="Group by"
            any="Model"
            value={by === 'model' ? undefined : by}
            choices={GROUPS.filter((group) => group !== 'model').map((group) => ({
              value: group,
              label: LABELS[group],
            }))}
            onChange={(value) => change({ by: value })}
          />
        </span>
        <span className={styles.choice}>
          <span aria-hidden="true">and by</span>
          <FilterSelect
            label="And by"
            any="Nothing else"
            value={and}
            choices={GROUPS.filter((group) => group !== by).map((group) => ({
              value: group,
              label: LABELS[group],
            }))}
            onChange={(value) => change({ and: value })}
          />
        </span>
        <span className={styles.choice}>
          <span aria-hidden="true">Of</span>
          <FilterSelect
            label="Workspaces"
            any={groupsWorkspaces ? 'All workspaces' : 'This workspace'}
            value={groupsWorkspaces ? undefined : scope}
            choices={groupsWorkspaces ? [] : [{ value: 'all', label: 'All workspaces' }]}
            onChange={(value) => change({ scope: value })}
          />
        </span>
      </FilterRow>
    </Section>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onApply: (day: string | undefined) => void;
}

function Day({ label, value = '', onApply }: DayProps) {
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <DraftInput
        className={styles.day ?? ''}
        type="date"
        max={LAST_DAY}
        value={value}
        // An empty day stays in the address: the range is one's own until another period is chosen.
        onApply={(text) => onApply(text === '' ? '-' : text)}
      />
    </label>
  );
}
