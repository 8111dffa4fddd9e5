// The decorators that declare the config fields of a kind. One declaration carries type, rules, default, description
// and secrecy; validation, masking and OpenAPI read it.
import { ApiProperty } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { IsIn, IsString, Matches, MaxLength, MinLength, ValidateBy, ValidateIf } from 'class-validator';
import type { ValidationOptions, ValidatorOptions } from 'class-validator';
import { STORABLE_RULE } from '../../domain/text/storable-text.js';

export type Secrecy = 'masked' | 'password';
/**
 * `secret`: path and query of the address may hold a credential. `public`: the address of a platform's API, where only
 * the query may hold one.
 */
export type AddressSecrecy = 'secret' | 'public';

interface FieldOptions {
  readonly description: string;
  readonly example?: string;
  /** Shown abbreviated (`masked`) or not at all (`password`). */
  readonly secret?: Secrecy;
  /** The parts of an address that are masked. The default address is shown in full. */
  readonly address?: AddressSecrecy;
  /** May be omitted. A field with a default (a property initialiser) may be omitted as well. */
  readonly optional?: true;
  readonly default?: string;
}

interface TextOptions extends FieldOptions {
  /** Without this the field has a minimum length of 1. */
  readonly allowEmpty?: true;
  readonly maxLength?: number;
  readonly pattern?: RegExp;
  readonly patternMessage?: string;
  /** The value becomes a header: unchanged, or as its UTF-8 bytes. */
  readonly header?: 'as it is' | 'utf-8';
  /** The problem of a value beside the other fields; null: none. Checked in requests only. */
  readonly problem?: (value: string, config: object) => string | null;
}

// A stored config may be older than a rule and must stay readable: rules of this group apply to requests only.
const OF_SENT: ValidationOptions = { groups: ['sent'] };
/** All rules that apply to stored configs. */
export const RULES_OF_STORED: ValidatorOptions = { groups: ['stored'], always: true };

type Fields<Mark> = Map<string, Mark>;
type ConfigClass = { readonly prototype: object };

const secrecies = new Map<object, Fields<Secrecy>>();
const addresses = new Map<object, Fields<AddressSecrecy>>();

/** The credentials of a config class, inherited ones included. */
export function secretFieldsOf(configClass: ConfigClass): ReadonlyMap<string, Secrecy> {
  return inherited(secrecies, configClass);
}

/** The address fields of a config class, inherited ones included. */
export function addressFieldsOf(configClass: ConfigClass): ReadonlyMap<string, AddressSecrecy> {
  return inherited(addresses, configClass);
}

function inherited<Mark>(marks: ReadonlyMap<object, Fields<Mark>>, configClass: ConfigClass): Fields<Mark> {
  const fields: Fields<Mark> = new Map();
  for (
    let prototype: object | null = configClass.prototype;
    prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const [name, value] of marks.get(prototype) ?? []) fields.set(name, value);
  }
  return fields;
}

function setMark<Mark>(marks: Map<object, Fields<Mark>>, target: object, name: string, value: Mark): void {
  const fields = marks.get(target) ?? new Map<string, Mark>();
  marks.set(target, fields.set(name, value));
}

// Values appear in records and in the audit log.
const STORABLE = ValidateBy(STORABLE_RULE);

/** A text field; required and not empty by default. */
export function TextField(options: TextOptions): PropertyDecorator {
  const rules = [IsString({ message: 'must be a string' }), STORABLE];
  if (!options.allowEmpty) rules.push(MinLength(1, { message: 'must not be empty' }));
  if (options.maxLength) {
    rules.push(
      MaxLength(options.maxLength, { message: `must have at most ${options.maxLength} characters` }),
    );
  }
  if (options.pattern) {
    rules.push(Matches(options.pattern, { message: options.patternMessage ?? 'has the wrong form' }));
  }
  const { header, problem } = options;
  if (header) {
    rules.push(
      ruleOf(
        'header',
        ofTexts((text) =>
          HEADER_VALUE.test(header === 'utf-8' ? headerBytes(text) : text)
            ? null
            : 'has characters that a header cannot hold',
        ),
        OF_SENT,
      ),
    );
  }
  if (problem) rules.push(ruleOf('agreement', ofTexts(problem), OF_SENT));
  return combine(options, rules, {
    type: String,
    ...(options.allowEmpty ? {} : { minLength: 1 }),
    ...(options.maxLength ? { maxLength: options.maxLength } : {}),
    // Records show an abbreviated secret, which does not match the pattern.
    ...(options.pattern && !options.secret ? { pattern: options.pattern.source } : {}),
  });
}

/** A field with a closed list of values. */
export function ChoiceField(
  options: FieldOptions & { readonly values: readonly string[] },
): PropertyDecorator {
  const rule = IsIn([...options.values], { message: `must be one of ${options.values.join(', ')}` });
  return combine(options, [rule], { type: String, enum: [...options.values] });
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
// Characters of a header value: visible ASCII, space, tab and Latin-1, without CR, LF and NUL.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
const MAX_HEADERS = 64;
// Headers that belong to the connection, not to the destination.
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
  'proxy-authorization',
]);

/** Custom headers that may be sent. Stored ones may be older than the rule that refuses their names. */
export function sendableHeaders(
  headers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(named.filter(([name]) => !RESERVED_HEADERS.has(name)));
}

/** Encodes a text as a header whose bytes are its UTF-8. */
export function headerBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The custom headers of every kind: an object of strings. */
export function HeadersField(): PropertyDecorator {
  const rules = [ruleOf('headers', headersProblem), ruleOf('reserved', reservedProblem, OF_SENT)];
  const options: FieldOptions = {
    description:
      'Custom HTTP headers sent with every delivery. Their values are shown masked. Headers that this service sets itself are rejected.',
    optional: true,
  };
  return combine(options, rules, {
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'X-Team': 'search' },
  });
}

function headersProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be an object of strings';
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length > MAX_HEADERS) return `must have at most ${MAX_HEADERS} members`;
  for (const [name, text] of entries) {
    if (!HEADER_NAME.test(name)) return 'has a member whose name is not a valid header name';
    if (typeof text !== 'string') return `the value of ${name} must be a string`;
    if (!HEADER_VALUE.test(text)) return `the value of ${name} has characters that a header cannot hold`;
  }
  return null;
}

function reservedProblem(value: unknown, config: object): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { ownHeaders } = config.constructor as { readonly ownHeaders?: readonly string[] };
  const isOwn = (name: string): boolean => ownHeaders?.includes(name.toLowerCase()) === true;
  const reserved = Object.keys(value).find((name) => RESERVED_HEADERS.has(name.toLowerCase()) || isOwn(name));
  if (reserved === undefined) return null;
  return isOwn(reserved)
    ? `must not set ${reserved}: requests to this platform set it themselves`
    : `must not set ${reserved}`;
}

type ProblemOf = (value: unknown, config: object) => string | null;

/** Skips values that are not texts; other rules reject those. */
function ofTexts(problemOf: (text: string, config: object) => string | null): ProblemOf {
  return (value, config) => (typeof value === 'string' ? problemOf(value, config) : null);
}

function ruleOf(name: string, problemOf: ProblemOf, options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name,
      validator: {
        validate: (value: unknown, validation) => problemOf(value, validation?.object ?? {}) === null,
        defaultMessage: (validation) => problemOf(validation?.value, validation?.object ?? {}) ?? 'is wrong',
      },
    },
    options,
  );
}

function combine(
  options: FieldOptions,
  rules: PropertyDecorator[],
  schema: Partial<ApiPropertyOptions>,
): PropertyDecorator {
  const isOptional = options.optional === true || options.default !== undefined;
  return (target, name) => {
    for (const rule of rules) rule(target, name);
    // Undefined is allowed, null is not: the clients' schemas have no null here.
    if (isOptional) ValidateIf((_object, value: unknown) => value !== undefined)(target, name);
    ApiProperty({
      ...schema,
      description: options.description,
      required: !isOptional,
      ...(options.default === undefined ? {} : { default: options.default }),
      ...(options.example === undefined ? {} : { example: options.example }),
    } as ApiPropertyOptions)(target, name);
    if (options.secret) setMark(secrecies, target, String(name), options.secret);
    if (options.address) setMark(addresses, target, String(name), options.address);
  };
}
