// Filter rules on the wire, the same in requests and in records. Source: contract 2.3; decisions 11 and 12.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { regexProblem, regexSumProblem, syntaxProblem } from '../../domain/destinations/filter-match.js';
import { FILTER_FIELDS, FILTER_LOGICS, FILTER_OPERATORS } from '../../domain/destinations/filter-rules.js';
import type {
  FilterField,
  FilterLogic,
  FilterOperator,
  FilterRules,
} from '../../domain/destinations/filter-rules.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import {
  MAX_REGEX_DEPTH,
  MAX_REGEX_SIZE,
  MAX_REGEX_SIZE_OF_FILTER,
} from '../../domain/destinations/regex-size.js';
import { isStorableText, NOT_STORABLE } from '../../domain/text/storable-text.js';

const MAX_GROUPS = 50;
const MAX_RULES_PER_GROUP = 50;
const MAX_VALUE_LENGTH = 10_000;
// Each holds memory for as long as the destination lives.
const MAX_REGEX_RULES = 20;
const MAX_REGEX_LENGTH = 1_000;
const NO_RE2 = 'is not a valid RE2 regular expression';
const OPERATORS_WITHOUT_VALUE: ReadonlySet<string> = new Set(['exists', 'not_exists']);
const NUMERIC_OPERATORS: ReadonlySet<string> = new Set(['gt', 'lt', 'gte', 'lte']);

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
  /** Of all together. */
  readonly problem: string | null;
}

// What was found out of the regular expressions of a body, of all of them before any is compiled: compiling a thousand, or
// one that repeats itself a million times, would stop the process. The rules are validated after their list.
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
  // Rules that have another problem are refused for that one.
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

/** Whether there is none. */
function noteProblem(rule: RegexRule, problem: string | null): boolean {
  if (problem !== null) REGEX_PROBLEMS.set(rule, problem);
  return problem === null;
}

export class FilterRuleDto {
  @ApiProperty({ enum: FILTER_FIELDS })
  @IsIn(FILTER_FIELDS, { message: `must be one of ${FILTER_FIELDS.join(', ')}` })
  field: FilterField;

  @ApiProperty({ enum: FILTER_OPERATORS })
  @IsIn(FILTER_OPERATORS, { message: `must be one of ${FILTER_OPERATORS.join(', ')}` })
  operator: FilterOperator;

  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'number' }],
    description:
      'What the field is compared with. Required except for exists and not_exists. regex is RE2 syntax, with at most ' +
      `${MAX_REGEX_LENGTH} characters, ${MAX_REGEX_SIZE} instructions (a repeat counts what it repeats as often) and ` +
      `${MAX_REGEX_DEPTH} nested groups; of a long text only the beginning is looked at.`,
  })
  @ValidateBy({
    name: 'fitsOperator',
    validator: {
      validate: (_value, validation) => valueProblem(validation?.object as FilterRuleDto) === null,
      defaultMessage: (validation) => valueProblem(validation?.object as FilterRuleDto) ?? 'is wrong',
    },
  })
  value?: string | number;
}

export class FilterGroupDto {
  @ApiPropertyOptional({
    enum: FILTER_LOGICS,
    default: 'and',
    description: 'How the rules of the group combine.',
  })
  @IfGiven()
  @IsIn(FILTER_LOGICS, { message: `must be one of ${FILTER_LOGICS.join(', ')}` })
  logic: FilterLogic = 'and';

  @ApiProperty({ type: [FilterRuleDto] })
  @IsObject({ each: true, message: 'must hold only objects' })
  @ArrayMaxSize(MAX_RULES_PER_GROUP, { message: `must have at most ${MAX_RULES_PER_GROUP} elements` })
  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => FilterRuleDto)
  rules: FilterRuleDto[];
}

export class FilterRulesDto {
  @ApiPropertyOptional({ default: true, description: 'False: nothing is filtered.' })
  @IfGiven()
  @IsBoolean({ message: 'must be a boolean' })
  enabled: boolean = true;

  @ApiProperty({
    type: [FilterGroupDto],
    description:
      'A generation passes when any group matches, or none is given. ' +
      `At most ${MAX_REGEX_RULES} rules are regex, of ${MAX_REGEX_SIZE_OF_FILTER} instructions together.`,
  })
  @ValidateBy({
    name: 'hasSmallRegexes',
    validator: {
      validate: (groups) => validateRegexes(groups).problem === null,
      defaultMessage: (validation) => validateRegexes(validation?.value).problem ?? 'is wrong',
    },
  })
  @IsObject({ each: true, message: 'must hold only objects' })
  @ArrayMaxSize(MAX_GROUPS, { message: `must have at most ${MAX_GROUPS} elements` })
  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => FilterGroupDto)
  groups: FilterGroupDto[];
}

export function fromFilterRulesDto(dto: FilterRulesDto): FilterRules {
  return {
    enabled: dto.enabled,
    groups: dto.groups.map(({ logic, rules }) => ({
      logic,
      // An absent value stays absent: the clients' schemas have no null here.
      rules: rules.map(({ field, operator, value }) =>
        value === undefined ? { field, operator } : { field, operator, value },
      ),
    })),
  };
}
