// Values that a JSON schema of openapi.json asks for, as arbitraries.
import * as fc from '../fast-check.js';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Finds what a reference names. */
export type Resolve = (reference: string) => Schema;
/** Values for members of certain names, whatever their schema says. */
export type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const LONGEST_LIST = 4;
const LONGEST_TEXT = 40;

export function valuesOf(schema: Schema, resolve: Resolve, hints: Hints): fc.Arbitrary<unknown> {
  const known = [schema.const, schema.example, schema.default, ...(schema.enum ?? [])].filter(
    (value) => value !== undefined,
  );
  if (schema.const !== undefined || schema.enum) return fc.constantFrom(...known);
  const made = fromShape(schema, resolve, hints);
  return known.length === 0 ? made : fc.oneof(made, fc.constantFrom(...known));
}

function fromShape(schema: Schema, resolve: Resolve, hints: Hints): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valuesOf(resolve(schema.$ref), resolve, hints);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((one) => valuesOf(one, resolve, hints)));
  if (schema.allOf) {
    const parts = schema.allOf.map((one) => valuesOf(one, resolve, hints));
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values) as unknown);
  }
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return schema.properties ? objects(schema, resolve, hints) : fc.jsonValue();
  return fc.oneof(...types.map((type) => ofType(type, schema, resolve, hints)));
}

function ofType(type: string, schema: Schema, resolve: Resolve, hints: Hints): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000, noNaN: true });
    case 'array':
      return fc.array(schema.items ? valuesOf(schema.items, resolve, hints) : fc.jsonValue(), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? LONGEST_LIST, LONGEST_LIST)),
      });
    case 'object':
      return objects(schema, resolve, hints);
    default:
      return texts(schema);
  }
}

function objects(schema: Schema, resolve: Resolve, hints: Hints): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const values = valuesOf(member, resolve, hints);
    const hint = hints[name];
    return [name, hint ? fc.oneof({ weight: 3, arbitrary: hint }, values) : values] as const;
  });
  const named = fc.record(Object.fromEntries(members), { requiredKeys: [...(schema.required ?? [])] });
  const { additionalProperties } = schema;
  if (!additionalProperties) return named;
  const others =
    additionalProperties === true ? fc.jsonValue() : valuesOf(additionalProperties, resolve, hints);
  const names = fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,11}$/);
  return fc
    .tuple(named, fc.dictionary(names, others, { maxKeys: 3 }))
    .map(([one, other]) => Object.assign(other, one) as unknown);
}

function texts({ format, pattern, minLength = 0, maxLength = LONGEST_TEXT }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time' || format === 'date') {
    const days = fc.date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true });
    return days.map((day) => (format === 'date' ? day.toISOString().slice(0, 10) : day.toISOString()));
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONGEST_TEXT)) });
}
