// The decorators that declare the config fields of a kind. One declaration carries type, rules, default, description
// and secrecy; validation, masking and OpenAPI read it. It needs no framework: the delivery process loads it as well.
import { NOT_STORABLE, isStorableText } from '../../domain/text/storable-text.js';
import { isObject } from '../../domain/members.js';

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

/** The problem of a value beside the other fields; null: none. */
type ProblemOf = (value: unknown, config: object) => string | null;

interface ConfigRule {
  readonly problemOf: ProblemOf;
  /** A stored config may be older than the rule and must stay readable. */
  readonly isForRequestsOnly?: true;
}

export interface ConfigField {
  readonly name: string;
  /** May be omitted, but not null: the clients' schemas have no null here. */
  readonly isOptional: boolean;
  readonly rules: readonly ConfigRule[];
  readonly options: FieldOptions;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ConfigClass = { readonly prototype: object };

const declaredFields = new Map<object, ConfigField[]>();

/** The fields that a class itself declares. */
export function ownFieldsOf({ prototype }: ConfigClass): readonly ConfigField[] {
  return declaredFields.get(prototype) ?? [];
}

/** The fields of a config class, those of its base first. */
export function fieldsOf(configClass: ConfigClass): readonly ConfigField[] {
  const base = baseOf(configClass);
  return base ? [...fieldsOf(base), ...ownFieldsOf(configClass)] : ownFieldsOf(configClass);
}

/** The class that a config class extends; null: none. */
export function baseOf(configClass: ConfigClass): ConfigClass | null {
  const base = Object.getPrototypeOf(configClass) as ConfigClass;
  return base === Function.prototype ? null : base;
}

/** The credentials of a config class. */
export function secretFieldsOf(configClass: ConfigClass): ReadonlyMap<string, Secrecy> {
  return new Map(
    fieldsOf(configClass).flatMap(({ name, options: { secret } }) => (secret ? [[name, secret]] : [])),
  );
}

/** The address fields of a config class. */
export function addressFieldsOf(configClass: ConfigClass): ReadonlyMap<string, AddressSecrecy> {
  return new Map(
    fieldsOf(configClass).flatMap(({ name, options: { address } }) => (address ? [[name, address]] : [])),
  );
}

/** The problem of a field's value; null: none. */
export function fieldProblem(
  { name, rules, isOptional }: ConfigField,
  config: object,
  origin: 'request' | 'stored',
): string | null {
  const value: unknown = Reflect.get(config, name);
  if (isOptional && value === undefined) return null;
  for (const { problemOf, isForRequestsOnly } of rules) {
    const problem = isForRequestsOnly && origin === 'stored' ? null : problemOf(value, config);
    if (problem !== null) return problem;
  }
  return null;
}

/** A text field; required and not empty by default. */
export function TextField(options: TextOptions): PropertyDecorator {
  const { maxLength, pattern, header, problem } = options;
  const rules: ConfigRule[] = [
    { problemOf: (value) => (typeof value === 'string' ? null : 'must be a string') },
    // Values appear in records and in the audit log.
    ofTexts((text) => (isStorableText(text) ? null : NOT_STORABLE)),
  ];
  if (!options.allowEmpty) rules.push(ofTexts((text) => (text === '' ? 'must not be empty' : null)));
  if (maxLength) {
    const message = `must have at most ${maxLength} characters`;
    rules.push(ofTexts((text) => (text.length > maxLength ? message : null)));
  }
  if (pattern) {
    const message = options.patternMessage ?? 'has the wrong form';
    rules.push(ofTexts((text) => (pattern.test(text) ? null : message)));
  }
  if (header) {
    const message = 'has characters that a header cannot hold';
    const sent = header === 'utf-8' ? headerBytes : (text: string): string => text;
    rules.push(inRequests(ofTexts((text) => (HEADER_VALUE.test(sent(text)) ? null : message))));
  }
  if (problem) rules.push(inRequests(ofTexts(problem)));
  return declare(options, rules, {
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
  const values: readonly unknown[] = options.values;
  const message = `must be one of ${values.join(', ')}`;
  const rule: ConfigRule = { problemOf: (value) => (values.includes(value) ? null : message) };
  return declare(options, [rule], { type: String, enum: [...values] });
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
  const rules = [{ problemOf: headersProblem }, inRequests({ problemOf: reservedProblem })];
  const options: FieldOptions = {
    description:
      'Custom HTTP headers sent with every delivery. Their values are shown masked. Headers that this service sets itself are rejected.',
    optional: true,
  };
  return declare(options, rules, {
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'X-Team': 'search' },
  });
}

function headersProblem(value: unknown): string | null {
  if (!isObject(value)) return 'must be an object of strings';
  const entries = Object.entries(value);
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

/** Skips values that are not texts; other rules reject those. */
function ofTexts(problemOf: (text: string, config: object) => string | null): ConfigRule {
  return { problemOf: (value, config) => (typeof value === 'string' ? problemOf(value, config) : null) };
}

function inRequests(rule: ConfigRule): ConfigRule {
  return { ...rule, isForRequestsOnly: true };
}

function declare(
  options: FieldOptions,
  rules: readonly ConfigRule[],
  schema: ConfigField['schema'],
): PropertyDecorator {
  const isOptional = options.optional === true || options.default !== undefined;
  return (target, name) => {
    const fields = declaredFields.get(target) ?? [];
    fields.push({ name: String(name), isOptional, rules, options, schema });
    declaredFields.set(target, fields);
  };
}
