// The period and the groups. They live in the address.
import { getRouteApi } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { Section } from '../../components/display/section';
import { DraftInput, LAST_DAY } from '../../components/form/draft-input';
import { FilterRow, FilterSelect } from '../../components/form/filter-row';
import { formatUtcMonth } from '../../format';
import { LABELS } from './groups';
import { recentMonths } from './periods';
import { GROUPS, readUsageSearch } from './usage-search';
import type { Group, UsageSearch } from './usage-search';
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
  const { by = 'model', and, month, from, to } = search;
  const isOwn = from !== undefined || to !== undefined;
  const [thisMonth, lastMonth, ...others] = recentMonths(now);
  const older =
    month === undefined || month === 'last' || others.includes(month) ? others : [...others, month];
  return (
    <Section title="Period and groups" isFlush>
      <FilterRow label="Filter usage">
        <Choice
          caption="Period"
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
        {isOwn && (
          <>
            <Day label="First day" value={from} onApply={(day) => change({ from: day })} />
            <Day label="Last day" value={to} onApply={(day) => change({ to: day })} />
          </>
        )}
        <Choice
          caption="Group by"
          label="Group by"
          any="Model"
          value={by === 'model' ? undefined : by}
          choices={groupsWithout('model')}
          onChange={(value) => change({ by: value })}
        />
        <Choice
          caption="and by"
          label="And by"
          any="Nothing else"
          value={and}
          choices={groupsWithout(by)}
          onChange={(value) => change({ and: value })}
        />
      </FilterRow>
    </Section>
  );
}

const groupsWithout = (left: Group) =>
  GROUPS.filter((group) => group !== left).map((value) => ({ value, label: LABELS[value] }));

interface ChoiceProps extends ComponentProps<typeof FilterSelect> {
  /** Shown before the list. It may be shorter than the label. */
  readonly caption: string;
}

const Choice = ({ caption, ...select }: ChoiceProps) => (
  <span className={styles.choice}>
    <span aria-hidden="true">{caption}</span>
    <FilterSelect {...select} />
  </span>
);

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
