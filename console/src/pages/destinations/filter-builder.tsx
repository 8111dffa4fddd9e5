// Builds the filter of a destination: groups of rules. A generation passes when any group matches.
import { useId } from 'react';
import type { FilterRules } from '../../api/destinations';
import type { Schemas } from '../../api/client';
import type { Problems } from '../../api/problems';
import { Button, IconButton } from '../../components/actions/button';
import styles from './destinations.module.css';

type Rule = Schemas['FilterRuleDto'];
type Group = Schemas['FilterGroupDto'];
type Field = Rule['field'];
type Operator = Rule['operator'];

export const FIELD_NAMES: Readonly<Record<Field, string>> = {
  model: 'Model',
  provider: 'Provider',
  session_id: 'Session id',
  user_id: 'User id',
  api_key_name: 'Key name',
  finish_reason: 'Finish reason',
  input: 'Input',
  output: 'Output',
  total_cost: 'Cost in USD',
  total_tokens: 'Total tokens',
  prompt_tokens: 'Prompt tokens',
  completion_tokens: 'Completion tokens',
};

export const OPERATOR_NAMES: Readonly<Record<Operator, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  regex: 'matches regex',
  starts_with: 'starts with',
  ends_with: 'ends with',
  gt: 'is greater than',
  lt: 'is less than',
  gte: 'is at least',
  lte: 'is at most',
  exists: 'is present',
  not_exists: 'is absent',
};

const WITHOUT_VALUE: ReadonlySet<Operator> = new Set(['exists', 'not_exists']);
const NUMERIC: ReadonlySet<Operator> = new Set(['gt', 'lt', 'gte', 'lte']);
const NEW_RULE: Rule = { field: 'model', operator: 'equals', value: '' };
const NEW_GROUP: Group = { logic: 'and', rules: [NEW_RULE] };

const entriesOf = <Name extends string>(names: Readonly<Record<Name, string>>) =>
  Object.entries(names) as [Name, string][];

/** Groups and rules have no other identity than their position. */
const keyOf = (position: number): string => String(position);
const replaced = <Item,>(items: readonly Item[], index: number, item: Item): Item[] =>
  items.map((other, position) => (position === index ? item : other));
const without = <Item,>(items: readonly Item[], index: number): Item[] =>
  items.filter((_item, position) => position !== index);

/** As the service takes it: no value where the operator has none, and null without a group. */
export function toFilterRules(groups: readonly Group[], isEnabled: boolean): FilterRules | null {
  if (groups.length === 0) return null;
  return {
    enabled: isEnabled,
    groups: groups.map(({ logic, rules }) => ({
      logic,
      rules: rules.map(({ field, operator, value }) =>
        WITHOUT_VALUE.has(operator) ? { field, operator } : { field, operator, value: value ?? '' },
      ),
    })),
  };
}

/** Whether every rule has the value that its operator needs. */
export function isFilterComplete(groups: readonly Group[]): boolean {
  return groups.every(({ rules }) =>
    rules.every(({ operator, value = '' }) => WITHOUT_VALUE.has(operator) || value !== ''),
  );
}

const RULES = 'filter_rules.groups';
const pathOf = (group: number, rule: number): string => `${RULES}[${group}].rules[${rule}].value`;

/** The members whose problems the builder shows. */
export function filterPathsOf(groups: readonly Group[]): readonly string[] {
  const values = groups.flatMap(({ rules }, group) => rules.map((_rule, rule) => pathOf(group, rule)));
  return [RULES, ...values];
}

interface FilterBuilderProps {
  readonly groups: readonly Group[];
  /** By the path of the member. */
  readonly problems: Problems['members'];
  readonly onChange: (groups: readonly Group[]) => void;
}

export function FilterBuilder({ groups, problems, onChange }: FilterBuilderProps) {
  return (
    <div className={styles.filter}>
      {groups.map((group, index) => (
        <div key={keyOf(index)} className={styles.filterPart}>
          {index > 0 && <p className={styles.or}>or</p>}
          <FilterGroup
            number={index + 1}
            group={group}
            problems={group.rules.map((_rule, rule) => problems[pathOf(index, rule)])}
            onChange={(next) => onChange(replaced(groups, index, next))}
            onRemove={() => onChange(without(groups, index))}
          />
        </div>
      ))}
      {problems[RULES] !== undefined && (
        <p role="alert" className={styles.problem}>
          {problems[RULES]}
        </p>
      )}
      <div>
        <Button icon="plus" onClick={() => onChange([...groups, NEW_GROUP])}>
          {groups.length === 0 ? 'Add a filter' : 'Add a group'}
        </Button>
      </div>
    </div>
  );
}

interface FilterGroupProps {
  readonly number: number;
  readonly group: Group;
  /** By the position of the rule. */
  readonly problems: readonly (string | undefined)[];
  readonly onChange: (group: Group) => void;
  readonly onRemove: () => void;
}

function FilterGroup({ number, group, problems, onChange, onRemove }: FilterGroupProps) {
  const { rules } = group;
  const removeRule = (index: number) =>
    rules.length === 1 ? onRemove() : onChange({ ...group, rules: without(rules, index) });
  return (
    <fieldset className={styles.group}>
      <legend className="visually-hidden">Group {number}</legend>
      <div className={styles.groupHead}>
        <label className={styles.logic}>
          <select
            className={styles.control}
            aria-label={`Logic of group ${number}`}
            value={group.logic}
            onChange={({ target }) => onChange({ ...group, logic: target.value === 'or' ? 'or' : 'and' })}
          >
            <option value="and">All</option>
            <option value="or">Any</option>
          </select>
          of these match
        </label>
        <IconButton icon="close" label={`Remove group ${number}`} onClick={onRemove} />
      </div>
      {rules.map((rule, index) => (
        <FilterRule
          key={keyOf(index)}
          name={`rule ${index + 1} of group ${number}`}
          rule={rule}
          problem={problems[index]}
          onChange={(next) => onChange({ ...group, rules: replaced(rules, index, next) })}
          onRemove={() => removeRule(index)}
        />
      ))}
      <div>
        <Button
          icon="plus"
          variant="ghost"
          onClick={() => onChange({ ...group, rules: [...rules, NEW_RULE] })}
        >
          Add a rule
        </Button>
      </div>
    </fieldset>
  );
}

interface FilterRuleProps {
  /** "rule 1 of group 2" */
  readonly name: string;
  readonly rule: Rule;
  readonly problem: string | undefined;
  readonly onChange: (rule: Rule) => void;
  readonly onRemove: () => void;
}

function FilterRule({ name, rule, problem, onChange, onRemove }: FilterRuleProps) {
  const note = useId();
  const { field, operator, value } = rule;
  return (
    <div className={styles.rule}>
      <select
        className={styles.control}
        aria-label={`Field of ${name}`}
        value={field}
        onChange={({ target }) => onChange({ ...rule, field: target.value as Field })}
      >
        {entriesOf(FIELD_NAMES).map(([id, label]) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      <select
        className={styles.control}
        aria-label={`Operator of ${name}`}
        value={operator}
        onChange={({ target }) => onChange({ ...rule, operator: target.value as Operator })}
      >
        {entriesOf(OPERATOR_NAMES).map(([id, label]) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      {WITHOUT_VALUE.has(operator) ? (
        <span className={styles.noValue} />
      ) : (
        <input
          className={styles.control}
          aria-label={`Value of ${name}`}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : note}
          inputMode={NUMERIC.has(operator) ? 'decimal' : 'text'}
          dir="auto"
          spellCheck={false}
          value={value ?? ''}
          onChange={({ target }) => onChange({ ...rule, value: target.value })}
        />
      )}
      <IconButton icon="close" label={`Remove ${name}`} onClick={onRemove} />
      {problem !== undefined && (
        <p id={note} role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  );
}
