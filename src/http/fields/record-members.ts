// Bodies that may be a record as a response has shown it (docs/contract.md#records-that-are-sent-back).
import { Allow } from 'class-validator';
import { AppError } from '../../domain/errors.js';
import { defineField, membersOf } from './field.js';
import type { FieldOptions } from './field.js';

type BodyClass = abstract new () => object;

const records = new WeakMap<BodyClass, BodyClass>();
const fixedMembers = new WeakMap<object, string[]>();

/** Members of the record that the body does not have are read-only, and are ignored. */
export function TakesRecord(record: BodyClass): ClassDecorator {
  return (body) => void records.set(body as unknown as BodyClass, record);
}

/** The sent body without the read-only members of the record. */
export function withoutReadOnlyMembers(sent: unknown, body: unknown): unknown {
  const record = records.get(body as BodyClass);
  if (record === undefined || typeof sent !== 'object' || sent === null) return sent;
  const taken = membersOf(body as BodyClass);
  const readOnly = new Set(membersOf(record).filter((name) => !taken.includes(name)));
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !readOnly.has(name)));
}

/** A member of the record that this operation cannot change: a body may only repeat it. */
export function FixedField({
  type = String,
  ...options
}: Pick<FieldOptions, 'nullable' | 'rules'> & {
  readonly type?: StringConstructor | BooleanConstructor;
} = {}): PropertyDecorator {
  const description = 'Cannot be changed here: only the value of the record.';
  return (target, name) => {
    fixedMembers.set(target, [...(fixedMembers.get(target) ?? []), String(name)]);
    defineField({ ...options, description, optional: true }, [Allow()], { type })(target, name);
  };
}

/** Throws `invalid_request` when the body has another value than the record in a fixed member. */
export function rejectFixedChanges(body: object, record: object): void {
  const names = fixedMembers.get(Object.getPrototypeOf(body) as object) ?? [];
  const changed = names.filter((name) => {
    const sent: unknown = Reflect.get(body, name);
    return sent !== undefined && canonical(sent) !== canonical(Reflect.get(record, name));
  });
  if (changed.length === 0) return;
  const problems = changed.map(
    (name) => `${name}: cannot be changed here; omit it, or send the value of the record`,
  );
  throw new AppError('invalid_request', { detail: problems.join('; ') });
}

// Times with and without their milliseconds, UUIDs in capitals.
function canonical(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const isTime = /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
  if (isTime) return Date.parse(value);
  return /^[0-9a-f-]{36}$/i.test(value) ? value.toLowerCase() : value;
}
