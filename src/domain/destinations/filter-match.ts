// Decides whether filter rules match, from the texts of the fields (docs/contract.md#filter-rules).
import type { FilterField, FilterGroup, FilterOperator, FilterRule, FilterRules } from './filter-rules.js';
import { formatUsd, parseUsd } from '../spend/money.js';
import { regexProblem, regexSumProblem, syntaxProblem } from '../regex/regex-problems.js';
import { matchPieces } from '../regex/regex-program.js';
import type { Pieces } from '../regex/regex-program.js';
import { REGEX_FRAME, sizeOfRegex } from '../regex/regex-size.js';
import { textHolding } from './text-search.js';

/** The text of a field; null when it is missing, undefined when its value is no longer known. */
export type FieldTexts = (field: FilterField) => string | null | undefined;

export interface Filter {
  /** Evaluates all rules at once, without yielding. */
  passes(textOf: FieldTexts): boolean;
  /** Evaluates the rules in pieces; null when everything passes. */
  readonly pieces: ((textOf: FieldTexts) => Pieces<boolean>) | null;
}

type TextTest = (text: string | null) => boolean;
type PiecesTest = (textOf: FieldTexts) => Pieces<boolean>;

/** Stored rules that cannot be applied: nothing is delivered by them. The message is for an operator. */
export class UnusableFilter extends Error {}

/**
 * Automaton steps of all regular expressions of a filter for one generation. Their time is linear, but a large one
 * would block the CPU for minutes on a large text. So each expression sees only the beginning of a long text:
 * `secret|password` 60,000 characters, `a.{500}b` 2,000.
 */
const MAX_REGEX_STEPS = 1_000_000;

// Characters beyond which a search yields. All rules of a filter take half a millisecond on shorter texts.
const LONG_TEXT = 1_000;

const ALWAYS: Filter = { passes: () => true, pieces: null };

/** Throws UnusableFilter for rules that are too large; invalid RE2 throws when it is first applied. */
export function compileFilter(filter: FilterRules | null): Filter {
  if (!filter?.enabled || filter.groups.length === 0) return ALWAYS;
  const problem = sizeProblemOf(filter);
  if (problem !== null) throw new UnusableFilter(problem);
  const regexCount = regexRulesOf(filter).length;
  const groups = filter.groups.map((group, index) =>
    compileGroup(group, MAX_REGEX_STEPS / regexCount, `groups[${index}]`),
  );
  const pieces = function* (textOf: FieldTexts): Pieces<boolean> {
    for (const matches of groups) if (yield* matches(textOf)) return true;
    return false;
  };
  return { passes: (textOf) => inOneGo(pieces(textOf)), pieces };
}

type ContentField = 'input' | 'output';

/** The field of stored content that enabled rules read; null: none. */
export function contentFieldOf(filter: FilterRules | null): ContentField | null {
  if (filter?.enabled !== true) return null;
  const fields = filter.groups.flatMap(({ rules }) => rules.map(({ field }) => field));
  return fields.find((field) => field === 'input' || field === 'output') ?? null;
}

function sizeProblemOf({ groups }: FilterRules): string | null {
  for (const [groupIndex, { rules }] of groups.entries()) {
    for (const [index, { operator, value }] of rules.entries()) {
      const problem = operator === 'regex' ? regexProblem(plainText(value ?? '')) : null;
      if (problem !== null) return `filter_rules.groups[${groupIndex}].rules[${index}].value ${problem}`;
    }
  }
  const problem = regexSumProblem(regexRulesOf({ groups }).map(({ value }) => plainText(value ?? '')));
  return problem && `filter_rules ${problem}`;
}

function regexRulesOf({ groups }: Pick<FilterRules, 'groups'>): readonly FilterRule[] {
  return groups.flatMap(({ rules }) => rules.filter(({ operator }) => operator === 'regex'));
}

function compileGroup({ logic, rules }: FilterGroup, stepsPerRegex: number, path: string): PiecesTest {
  // A group of `and` ends with the first miss, a group of `or` with the first match.
  const decides = logic === 'or';
  const tests = rules.map((rule, index): PiecesTest => {
    const matches = compileRule(rule, stepsPerRegex, `${path}.rules[${index}]`);
    return function* (textOf) {
      const text = textOf(rule.field);
      // An unknown text matches no rule, so that a rule that excludes never lets it through.
      return text !== undefined && (yield* matches(text));
    };
  });
  return function* (textOf) {
    for (const matches of tests) if ((yield* matches(textOf)) === decides) return decides;
    return !decides || tests.length === 0;
  };
}

function compileRule(
  { operator, value }: FilterRule,
  stepsPerRegex: number,
  path: string,
): (text: string | null) => Pieces<boolean> {
  const wanted = plainText(value ?? '');
  if (operator === 'regex') return regexTest(wanted, stepsPerRegex, path);
  if (operator === 'contains' || operator === 'not_contains') {
    const holds = textHolding(wanted);
    return function* (text) {
      if (text !== null && text.length >= LONG_TEXT) yield;
      const found = text !== null && holds(text);
      return (typeof found === 'boolean' ? found : yield* found) === (operator === 'contains');
    };
  }
  const matches = TESTS[operator](wanted);
  return function* (text) {
    if (text !== null && text.length >= LONG_TEXT) yield;
    return matches(text);
  };
}

/** Matches anywhere in the text, like RE2 unless it is anchored. */
function regexTest(pattern: string, steps: number, path: string): (text: string | null) => Pieces<boolean> {
  const { size, reading } = sizeOfRegex(pattern);
  const reach = Math.floor(steps / Math.max(size - reading, REGEX_FRAME));
  return function* (text) {
    const problem = text === null ? null : syntaxProblem(pattern);
    if (problem !== null) throw new UnusableFilter(`filter_rules.${path}.value: ${problem}`);
    if (text === null) return false;
    // Compilation was a piece of its own.
    yield;
    return yield* matchPieces(pattern, text.length > reach ? text.slice(0, reach) : text);
  };
}

function inOneGo<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
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

const TESTS: Readonly<
  Record<Exclude<FilterOperator, 'regex' | 'contains' | 'not_contains'>, (wanted: string) => TextTest>
> = {
  equals,
  not_equals: negated(equals),
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

/** Writes numbers without an exponent, like the texts of fields. */
function plainText(value: string | number): string {
  if (typeof value === 'string') return value;
  try {
    return formatUsd(parseUsd(value));
  } catch {
    // Finer than any field.
    return String(value);
  }
}
