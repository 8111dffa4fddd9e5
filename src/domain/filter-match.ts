// Decides whether filter rules let something pass, from the texts of its fields. Source: decisions 11 and 12.
import { RE2JS } from 're2js';
import type { FilterField, FilterGroup, FilterOperator, FilterRule, FilterRules } from './filter-rules.js';
import { formatUsd, parseUsd } from './money.js';

/** The text of a field; null when it is missing, undefined when it is not known any more. */
export type FieldTexts = (field: FilterField) => string | null | undefined;

type TextTest = (text: string | null) => boolean;
type FieldsTest = (textOf: FieldTexts) => boolean;

/**
 * What all regular expressions of one filter may cost for one generation, in steps of the automaton: a quarter of a
 * second at the very worst. Their time is linear, but a large one on a large text still takes half a minute, in a
 * process that serves others. So each sees only the beginning of a long text: `secret|password` the first 60,000
 * characters, `a.{500}b` the first 2,000.
 */
const MAX_REGEX_STEPS = 1_000_000;

/** Throws on a regular expression that is not RE2; none is stored. */
export function compileFilter(filter: FilterRules | null): FieldsTest {
  if (!filter?.enabled || filter.groups.length === 0) return () => true;
  const regexCount = filter.groups
    .flatMap(({ rules }) => rules)
    .filter(({ operator }) => operator === 'regex').length;
  const groups = filter.groups.map((group) => compileGroup(group, MAX_REGEX_STEPS / regexCount));
  return (textOf) => groups.some((matches) => matches(textOf));
}

/** Whether rules that are in force look at a field. */
export function filterReads(filter: FilterRules | null, field: FilterField): boolean {
  return (
    filter?.enabled === true && filter.groups.some(({ rules }) => rules.some((rule) => rule.field === field))
  );
}

function compileGroup({ logic, rules }: FilterGroup, stepsPerRegex: number): FieldsTest {
  if (rules.length === 0) return () => true;
  const tests = rules.map((rule): FieldsTest => {
    const matches = compileRule(rule, stepsPerRegex);
    return (textOf) => {
      const text = textOf(rule.field);
      // A rule that keeps something back must not let through what nobody can tell.
      return text !== undefined && matches(text);
    };
  });
  return logic === 'and'
    ? (textOf) => tests.every((matches) => matches(textOf))
    : (textOf) => tests.some((matches) => matches(textOf));
}

function compileRule({ operator, value }: FilterRule, stepsPerRegex: number): TextTest {
  const wanted = plainText(value ?? '');
  return operator === 'regex' ? compileRegex(wanted, stepsPerRegex) : TESTS[operator](wanted);
}

/** Matches anywhere in the text, as RE2 does unless it is anchored. */
function compileRegex(pattern: string, steps: number): TextTest {
  const regex = RE2JS.compile(pattern);
  const reach = Math.floor(steps / regex.programSize());
  return (text) => text !== null && regex.test(text.length > reach ? text.slice(0, reach) : text);
}

const isPresent: TextTest = (text) => text !== null && text !== '';
const negated =
  (test: (wanted: string) => TextTest) =>
  (wanted: string): TextTest => {
    const matches = test(wanted);
    return (text) => !matches(text);
  };
const numeric =
  (compare: (actual: number, wanted: number) => boolean) =>
  (wantedText: string): TextTest => {
    const wanted = finiteNumber(wantedText);
    return (text) => {
      const actual = text === null ? null : finiteNumber(text);
      return actual !== null && wanted !== null && compare(actual, wanted);
    };
  };

const equals =
  (wanted: string): TextTest =>
  (text) =>
    text === wanted;
const contains =
  (wanted: string): TextTest =>
  (text) =>
    text?.includes(wanted) ?? false;

const TESTS: Readonly<Record<Exclude<FilterOperator, 'regex'>, (wanted: string) => TextTest>> = {
  equals,
  not_equals: negated(equals),
  contains,
  not_contains: negated(contains),
  starts_with: (wanted) => (text) => text?.startsWith(wanted) ?? false,
  ends_with: (wanted) => (text) => text?.endsWith(wanted) ?? false,
  gt: numeric((actual, wanted) => actual > wanted),
  lt: numeric((actual, wanted) => actual < wanted),
  gte: numeric((actual, wanted) => actual >= wanted),
  lte: numeric((actual, wanted) => actual <= wanted),
  exists: () => isPresent,
  not_exists: () => (text) => !isPresent(text),
};

function finiteNumber(text: string): number | null {
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Numbers without an exponent, as the fields have theirs. */
function plainText(value: string | number): string {
  if (typeof value === 'string') return value;
  try {
    return formatUsd(parseUsd(value));
  } catch {
    // Finer than any field is.
    return String(value);
  }
}
