// Strict reader of plain values: every error is one line with the source, the line where it is known, and the member.
const MAX_MESSAGE_LENGTH = 500;
import { isObject } from '../../domain/members.js';

/** A catalogue that cannot be used. The message is one line for the operator, for any content. */
export class CatalogueError extends Error {
  constructor(
    message: string,
    /** The name of the source at fault. */
    readonly source: string,
  ) {
    super(message.slice(0, MAX_MESSAGE_LENGTH).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'));
  }
}

/** Names of members and indexes of items, from the top. */
export type Path = readonly (string | number)[];

/** Where values come from. */
export interface ValueSource {
  /** In messages. Empty: the message begins with the member. */
  readonly name: string;
  /** Absent: a source without lines. */
  readonly lineOf?: (path: Path) => number;
  /** A number as it is written, so that no digit is rounded away. Absent: its shortest form, of at most 15 digits. */
  readonly writtenAt?: (path: Path) => string | undefined;
}

/** A value with its position. */
export class Cursor {
  constructor(
    private readonly source: ValueSource,
    private readonly value: unknown,
    private readonly path: Path = [],
  ) {}

  fail(problem: string): never {
    const { name, lineOf } = this.source;
    const line = lineOf ? `${name}:${lineOf(this.path)}` : name;
    const member = this.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    const place = [line, member.slice(1)].filter((part) => part !== '');
    throw new CatalogueError([...place, problem].join(': '), name);
  }

  /** Unchecked. */
  get plainValue(): unknown {
    return this.value;
  }

  isNull(): boolean {
    return this.value === null;
  }

  isList(): boolean {
    return Array.isArray(this.value);
  }

  /** Rejects members with other names. */
  object(names: readonly string[]): ObjectCursor {
    const { value } = this;
    if (!isObject(value)) return this.fail('must be an object');
    const members = new Map<string, Cursor>();
    for (const [name, member] of Object.entries(value)) {
      const cursor = this.at(name, member);
      if (!names.includes(name)) cursor.fail(`is not known here; known are ${names.join(', ')}`);
      members.set(name, cursor);
    }
    return new ObjectCursor(this, members);
  }

  list(): Cursor[] {
    if (!Array.isArray(this.value)) return this.fail('must be a list');
    return this.value.map((item: unknown, index) => this.at(index, item));
  }

  text(pattern: RegExp, description: string): string {
    const { value } = this;
    return typeof value === 'string' && pattern.test(value) ? value : this.fail(`must be ${description}`);
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('must be true or false');
  }

  integer(least: number, most: number): number {
    const { value } = this;
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
    return isRight ? value : this.fail(`must be a whole number from ${least} to ${most}`);
  }

  /** `canonical` returns the value that another spelling stands for. */
  choice<Value extends string>(
    values: readonly Value[],
    canonical: (written: string) => string | undefined = (written) => written,
  ): Value {
    const value = typeof this.value === 'string' ? canonical(this.value) : undefined;
    return (
      values.find((candidate) => candidate === value) ?? this.fail(`must be one of ${values.join(', ')}`)
    );
  }

  /** The text of a number as written, which may be a string as well. */
  decimal(): string {
    const { value } = this;
    const written =
      typeof value === 'number' ? (this.source.writtenAt?.(this.path) ?? shortestDecimal(value)) : value;
    if (written === undefined) return this.fail('has more than 15 digits; write the number as a string');
    return typeof written === 'string' && /^\d{1,9}(?:\.\d{1,18})?$/.test(written)
      ? written
      : this.fail('must be a decimal number that is not negative');
  }

  private at(key: string | number, value: unknown): Cursor {
    return new Cursor(this.source, value, [...this.path, key]);
  }
}

/** Without an exponent. Undefined: a number of more than 15 digits may not be the one that was written. */
function shortestDecimal(value: number): string | undefined {
  const [digits = '', exponent] = value.toExponential().split('e');
  const count = digits.replace(/[-.]/g, '').length;
  if (count > 15) return undefined;
  const places = count - 1 - Number(exponent);
  return places > 100 ? String(value) : value.toFixed(Math.max(0, places));
}

/** The members of an object, all of known names. */
export class ObjectCursor {
  constructor(
    private readonly cursor: Cursor,
    private readonly members: ReadonlyMap<string, Cursor>,
  ) {}

  /** The members of `defaults` stand in for absent ones. */
  over(defaults: ObjectCursor | undefined): ObjectCursor {
    return defaults ? new ObjectCursor(this.cursor, new Map([...defaults.members, ...this.members])) : this;
  }

  /** Returns `read` of the member; without the member `fallback`, or an error if there is none. */
  read<Value>(name: string, read: (member: Cursor) => Value, fallback?: Value): Value {
    const member = this.members.get(name);
    if (member) return read(member);
    return fallback === undefined ? this.cursor.fail(`${name} is missing`) : fallback;
  }

  optional<Value>(name: string, read: (member: Cursor) => Value): Value | undefined {
    const member = this.members.get(name);
    return member && read(member);
  }
}
