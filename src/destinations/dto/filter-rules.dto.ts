// Filter rules on the wire, equal in requests and records. Contract: docs/contract.md#filter-rules.
import { IsObject } from 'class-validator';
import { regexProblem, regexSumProblem, syntaxProblem } from '../../domain/regex/regex-problems.js';
import { FILTER_FIELDS, FILTER_LOGICS, FILTER_OPERATORS } from '../../domain/destinations/filter-rules.js';
import type {
  FilterField,
  FilterLogic,
  FilterOperator,
  FilterRules,
} from '../../domain/destinations/filter-rules.js';
import { CustomField, ObjectListField } from '../../http/fields/compound-fields.js';
import { Rule } from '../../http/fields/field.js';
import { EnumField, FlagField } from '../../http/fields/scalar-fields.js';
import { MAX_REGEX_DEPTH, MAX_REGEX_SIZE, MAX_REGEX_SIZE_OF_FILTER } from '../../domain/regex/regex-size.js';
import { isStorableText, NOT_STORABLE } from '../../domain/text/storable-text.js';

const MAX_GROUPS = 50;
const MAX_RULES_PER_GROUP = 50;
const MAX_VALUE_LENGTH = 10_000;
// A compiled expression occupies memory for the lifetime of its destination.
const MAX_REGEX_RULES = 20;
const MAX_REGEX_LENGTH = 1_000;
const NO_RE2 = 'is not a valid RE2 regular expression';
const OPERATORS_WITHOUT_VALUE: ReadonlySet<string> = new Set(['exists', 'not_exists']);
const NUMERIC_OPERATORS: ReadonlySet<string> = new Set(['gt', 'lt', 'gte', 'lte']);

const ONLY_OBJECTS = IsObject({ each: true, message: 'must hold only objects' });

/** Null when the rule's value fits its operator. */
function valueProblem(rule: FilterRuleDto): string | null {
  const { operator, value } = rule;
  if (value === undefined)
    return OPERATORS_WITHOUT_VALUE.has(operator) ? null : `is required for ${operator}`;
  if (typeof value !== 'string' && !Number.isFinite(value)) return 'must be a string or a number';
  if (NUMERIC_OPERATORS.has(operator) && (String(value).trim() === '' || !Number.isFinite(Number(value)))) {
    return `must be a finite number for ${operator}`;
  }
  if (!isStorableText(String(value))) return NOT_STORABLE;
  const limit = operator === 'regex' ? MAX_REGEX_LENGTH : MAX_VALUE_LENGTH;
  if (String(value).length > limit) return `must have at most ${limit} characters`;
  return REGEX_PROBLEMS.get(rule) ?? null;
}

interface ValidatedRegexes {
  /** The problem of the whole list. */
  readonly problem: string | null;
}

// Problems of the regular expressions of a body. All are measured before any is compiled: compiling a thousand, or one
// with a million repeats, would block the process. The list is validated before its rules, and caches the result for them.
const REGEX_PROBLEMS = new WeakMap<object, string>();
const VALIDATED = new WeakMap<object, ValidatedRegexes>();

function validateRegexes(groups: unknown): ValidatedRegexes {
  if (!Array.isArray(groups)) return { problem: null };
  const known = VALIDATED.get(groups);
  if (known) return known;
  const validated = { problem: problemOfRegexes(groups) };
  VALIDATED.set(groups, validated);
  return validated;
}

function problemOfRegexes(groups: readonly unknown[]): string | null {
  const rules = groups
    .flatMap((group) => ((group as Partial<FilterGroupDto> | null)?.rules ?? []) as unknown)
    .filter((rule) => isRegexRule(rule));
  if (rules.length > MAX_REGEX_RULES)
    return `must have at most ${MAX_REGEX_RULES} rules with the operator regex`;
  // Longer expressions have another problem, which their rule reports.
  const short = rules.filter(({ value }) => value.length <= MAX_REGEX_LENGTH);
  const fits = (rule: RegexRule): boolean => noteProblem(rule, regexProblem(rule.value));
  if (!short.every(fits)) return null;
  const problem = regexSumProblem(short.map(({ value }) => value));
  if (problem === null) for (const rule of short) noteProblem(rule, syntaxProblem(rule.value) && NO_RE2);
  return problem;
}

interface RegexRule {
  readonly value: string;
}

function isRegexRule(rule: unknown): rule is RegexRule {
  if (typeof rule !== 'object' || rule === null) return false;
  const { operator, value } = rule as Partial<FilterRuleDto>;
  return operator === 'regex' && typeof value === 'string';
}

/** Returns whether the rule has no problem. */
function noteProblem(rule: RegexRule, problem: string | null): boolean {
  if (problem !== null) REGEX_PROBLEMS.set(rule, problem);
  return problem === null;
}

export class FilterRuleDto {
  @EnumField(FILTER_FIELDS)
  field: FilterField;

  @EnumField(FILTER_OPERATORS)
  operator: FilterOperator;

  // Its rule decides whether it may be absent.
  @CustomField(
    { oneOf: [{ type: 'string' }, { type: 'number' }], required: false },
    {
      rules: [
        Rule(
          'fitsOperator',
          (_value, rule) => valueProblem(rule as FilterRuleDto) === null,
          (_value, rule) => valueProblem(rule as FilterRuleDto) ?? 'is wrong',
        ),
      ],
      description:
        'The value that the field is compared with. Required except for exists and not_exists. regex takes RE2 syntax, ' +
        `with at most ${MAX_REGEX_LENGTH} characters, ${MAX_REGEX_SIZE} instructions (a repeat multiplies its operand) and ` +
        `${MAX_REGEX_DEPTH} nested groups; only the beginning of a long text is searched.`,
    },
  )
  value?: string | number;
}

export class FilterGroupDto {
  @EnumField(FILTER_LOGICS, { default: 'and', description: 'How the rules of the group combine.' })
  logic: FilterLogic = 'and';

  @ObjectListField(FilterRuleDto, { hiddenMaxItems: MAX_RULES_PER_GROUP, rules: [ONLY_OBJECTS] })
  rules: FilterRuleDto[];
}

export class FilterRulesDto {
  @FlagField({ default: true, description: 'False: disables the filter.' })
  enabled: boolean = true;

  @ObjectListField(FilterGroupDto, {
    hiddenMaxItems: MAX_GROUPS,
    rules: [
      ONLY_OBJECTS,
      Rule(
        'hasSmallRegexes',
        (groups) => validateRegexes(groups).problem === null,
        (groups) => validateRegexes(groups).problem ?? 'is wrong',
      ),
    ],
    description:
      'A generation passes when any group matches, or when the list is empty. ' +
      `At most ${MAX_REGEX_RULES} rules are regex, with at most ${MAX_REGEX_SIZE_OF_FILTER} instructions in total.`,
  })
  groups: FilterGroupDto[];
}

export function fromFilterRulesDto(dto: FilterRulesDto): FilterRules {
  return {
    enabled: dto.enabled,
    groups: dto.groups.map(({ logic, rules }) => ({
      logic,
      // An absent value stays absent: the schemas of clients do not allow null here.
      rules: rules.map(({ field, operator, value }) =>
        value === undefined ? { field, operator } : { field, operator, value },
      ),
    })),
  };
}
