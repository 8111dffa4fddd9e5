// Fields that hold one value: texts, identifiers, choices, numbers, flags and moments. Contract: docs/contract.md#conventions.
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsPositive,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
} from 'class-validator';
import { KEY_HASH } from '../../domain/keys/api-key.js';
import { isSecretMask, MASK_RULE } from '../../domain/text/masking.js';
import { STORABLE_RULE } from '../../domain/text/storable-text.js';
import { defineField, Rule } from './field.js';
import type { FieldOptions } from './field.js';

interface TextOptions extends FieldOptions {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A bound that the schema does not show. */
  readonly hiddenMaxLength?: number;
  readonly pattern?: RegExp;
  readonly patternMessage?: string;
}

/** Text that the database can store. */
export function TextField(options: TextOptions = {}): PropertyDecorator {
  return textField(options, {});
}

/** A secret in a request. Responses never contain it, and show a mask at most, which is no secret. */
export function SecretField({ rules = [], ...options }: TextOptions): PropertyDecorator {
  const noMask = Rule('isNoMask', (value) => typeof value !== 'string' || !isSecretMask(value), MASK_RULE);
  return textField({ ...options, rules: [...rules, noMask] }, { writeOnly: true });
}

function textField(
  { minLength, maxLength, hiddenMaxLength, pattern, patternMessage, ...options }: TextOptions,
  extra: { readonly writeOnly?: true },
): PropertyDecorator {
  const longest = maxLength ?? hiddenMaxLength;
  const rules = [IsString({ message: 'must be a string' })];
  if (longest !== undefined) {
    rules.push(MaxLength(longest, { message: `must have at most ${longest} characters` }));
  }
  rules.push(ValidateBy(STORABLE_RULE));
  if (minLength !== undefined && pattern === undefined) {
    rules.push(MinLength(minLength, { message: 'must not be empty' }));
  }
  if (pattern) rules.push(Matches(pattern, { message: patternMessage ?? 'has the wrong form' }));
  return defineField(options, rules, {
    type: String,
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(pattern ? { pattern: pattern.source } : {}),
    ...extra,
  });
}

interface FormOptions extends FieldOptions {
  readonly pattern: RegExp;
  /** Reported for every value of another form, and for values that are not text. */
  readonly message: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

/** Text of a form that its description states. */
export function FormattedField({ pattern, message, ...options }: FormOptions): PropertyDecorator {
  const { minLength, maxLength, format, ...field } = options;
  return defineField(field, [Matches(pattern, { message })], {
    type: String,
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(format === undefined ? {} : { format }),
  });
}

export function UuidField(options: FieldOptions = {}): PropertyDecorator {
  return defineField(options, [IsUUID('all', { message: 'must be a UUID' })], {
    type: String,
    format: 'uuid',
  });
}

/** The workspace that a request concerns; the account's default workspace when it is absent. */
export function WorkspaceIdField(
  description = "Default: the account's default workspace.",
): PropertyDecorator {
  return UuidField({ optional: true, description });
}

/** The hash of a key whose calls are wanted. */
export function KeyHashField(description: string): PropertyDecorator {
  return FormattedField({
    optional: true,
    pattern: KEY_HASH,
    message: 'must be 64 lower-case hexadecimal digits',
    description,
  });
}

interface EnumOptions extends FieldOptions {
  readonly message?: string;
}

/** One value of a closed list. */
export function EnumField(
  values: readonly (string | number | boolean | null)[],
  { message, ...options }: EnumOptions = {},
): PropertyDecorator {
  const choices = values.filter((value) => value !== null).join(', ');
  const rule = IsIn([...values], {
    message: message ?? `must be one of ${choices}${options.nullable ? ', or null' : ''}`,
  });
  // The type of the schema is that of the values; the framework knows no integers.
  const type = values.every((value) => Number.isInteger(value)) ? { type: 'integer' } : {};
  return defineField(options, [rule], { enum: [...values], ...type });
}

interface NumberOptions extends FieldOptions {
  readonly minimum?: number;
  readonly maximum?: number;
  /** A bound that the schema does not show. */
  readonly hiddenMaximum?: number;
  readonly format?: string;
  /** Reported for values beyond the bounds. */
  readonly rangeMessage?: string;
}

// Other notations, such as 1e3, 0x10 and empty text, stay text and fail validation.
const toInteger = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value,
);

/** A whole number. Query parameters arrive as text: `query` converts them. */
export function IntegerField({
  query,
  ...options
}: NumberOptions & { readonly query?: true } = {}): PropertyDecorator {
  const rules = [IsInt({ message: 'must be a whole number' })];
  if (query) rules.push(toInteger);
  return numberField(options, rules, 'integer');
}

/** The number of items of a page, in a query. */
export function LimitField(limit: {
  readonly maximum: number;
  readonly default: number;
  readonly description?: string;
}): PropertyDecorator {
  const rangeMessage = `must be from 1 to ${limit.maximum}`;
  return IntegerField({ query: true, minimum: 1, rangeMessage, ...limit });
}

const toNumber = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,12})?$/.test(value) ? Number(value) : value,
);

/** Query parameters arrive as text: `query` converts them. */
export function NumberField({
  query,
  ...options
}: NumberOptions & { readonly query?: true } = {}): PropertyDecorator {
  const message = options.nullable ? 'must be a number or null' : 'must be a number';
  const rules = [IsNumber({}, { message })];
  if (query) rules.push(toNumber);
  return numberField(options, rules, Number);
}

// USD. Far above any limit, far below what the database can hold.
const MAX_USD = 1_000_000_000;

/** An amount in USD that a response shows. */
export function UsdField(options: FieldOptions = {}): PropertyDecorator {
  return NumberField(options);
}

/** A limit in USD that a request sets: from 0, or above 0 where `positive`. */
export function UsdLimitField({
  positive,
  ...options
}: FieldOptions & { readonly positive?: true }): PropertyDecorator {
  if (!positive) return NumberField({ ...options, minimum: 0, maximum: MAX_USD });
  const rules = [IsPositive({ message: 'must be greater than 0' })];
  return NumberField({ ...options, maximum: MAX_USD, rules });
}

function numberField(
  { minimum, maximum, hiddenMaximum, format, rangeMessage, ...options }: NumberOptions,
  rules: PropertyDecorator[],
  type: 'integer' | NumberConstructor,
): PropertyDecorator {
  const most = maximum ?? hiddenMaximum;
  if (most !== undefined) rules.push(Max(most, { message: rangeMessage ?? `must be at most ${most}` }));
  if (minimum !== undefined) {
    const message = rangeMessage ?? (minimum === 0 ? 'must not be negative' : `must be at least ${minimum}`);
    rules.push(Min(minimum, { message }));
  }
  return defineField(options, rules, {
    type,
    ...(format === undefined ? {} : { format }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  });
}

export function FlagField(options: FieldOptions = {}): PropertyDecorator {
  const message = options.nullable ? 'must be a boolean or null' : 'must be a boolean';
  return defineField(options, [IsBoolean({ message })], { type: Boolean });
}

/** A flag of a query: the texts `true` and `false`. */
export function QueryFlagField(options: FieldOptions): PropertyDecorator {
  const toBoolean = Transform(({ value }: { value: unknown }) =>
    value === 'true' ? true : value === 'false' ? false : value,
  );
  const rules = [toBoolean, IsBoolean({ message: 'must be true or false' })];
  return defineField(options, rules, { type: Boolean });
}

// There is no year 0 in PostgreSQL's calendar.
const UTC_TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/** A moment: ISO 8601 in UTC, with seconds. */
export function TimeField(options: FieldOptions = {}): PropertyDecorator {
  const rule = Rule(
    'isUtcTime',
    isUtcTime,
    'must be a time in UTC with seconds, such as 2027-01-31T12:00:00Z',
  );
  return defineField(options, [rule], { type: String, format: 'date-time' });
}

function isUtcTime(value: unknown): boolean {
  if (typeof value !== 'string' || !UTC_TIME.test(value)) return false;
  const moment = new Date(value);
  // Date reads 30 February as a day of March.
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(value.slice(0, 19));
}

/** A UTC day. */
export function DayField(options: FieldOptions = {}): PropertyDecorator {
  return FormattedField({
    ...options,
    pattern: /^\d{4}-\d\d-\d\d$/,
    message: 'must be a day, as YYYY-MM-DD',
    format: 'date',
  });
}
