// Bounds the shape of a parsed JSON value before any code walks all of it. Transforming, validating and describing
// members takes microseconds for each, and the square of their number for unknown ones.
import { AppError } from '../../domain/errors.js';
import { memberPath } from '../../domain/text/member-path.js';
import { NOT_WELL_FORMED } from '../../domain/text/storable-text.js';

/** Far more than any object of the contract has. */
export const MAX_MEMBERS = 256;
// Far deeper than any body of the contract. The transformer recurses, and some thousands of levels would overflow the
// stack.
const MAX_DEPTH = 32;

export interface ShapeBounds {
  /** Elements of one list. */
  readonly elements: number;
  /** Values at any depth, lists and objects included. */
  readonly values: number;
  /** The characters of all strings and member names together. */
  readonly characters?: number;
  /** Names that every object has, such as `__proto__` and `toString`. Rejected unless no code reads them. */
  readonly allowsAnyName?: boolean;
  /** Levels of nesting; absent: far more than any body of an operation has. */
  readonly depth?: number;
  /** Members of one object; absent: MAX_MEMBERS. */
  readonly members?: number;
  /** Strings and member names must be well-formed Unicode: providers reject or replace lone surrogates. */
  readonly isWellFormed?: boolean;
}

/** Bodies of operations: the longest list of the contract, and many times the values of the largest filter. */
export const OPERATION_BODY: ShapeBounds = { elements: 1_000, values: 20_000 };

type Path = (string | number)[];

/** Throws `invalid_request` with the path of the value that exceeds a bound. `path` is the position of `value`. */
export function rejectHostileShape(value: unknown, path: Path, bounds: ShapeBounds): void {
  if (typeof value === 'string' ? bounds.characters === undefined : typeof value !== 'object') return;
  new ShapeWalk(path, bounds).visit(value, path.length);
}

/** Reads no further than one member beyond the bound. */
export function rejectTooManyMembers(value: object): void {
  let members = 0;
  for (const _name in value) if (++members > MAX_MEMBERS) reject([], tooManyMembers(MAX_MEMBERS));
}

class ShapeWalk {
  private values = 0;
  private characters = 0;

  constructor(
    private readonly path: Path,
    private readonly bounds: ShapeBounds,
  ) {}

  visit(value: unknown, depth: number): void {
    if (++this.values > this.bounds.values)
      this.rejectWhole(`must have at most ${this.bounds.values} values in all`);
    if (typeof value === 'string') this.visitText(value);
    if (typeof value !== 'object' || value === null) return;
    if (depth > (this.bounds.depth ?? MAX_DEPTH)) this.rejectWhole('is nested too deeply');
    if (Array.isArray(value)) this.visitElements(value, depth);
    else this.visitMembers(value, depth);
  }

  private visitElements(list: readonly unknown[], depth: number): void {
    const { elements } = this.bounds;
    if (list.length > elements) reject(this.path, `must have at most ${elements} elements`);
    const { path } = this;
    // Without an iterator: there may be a hundred thousand elements.
    for (let index = 0; index < list.length; index++) {
      path.push(index);
      this.visit(list[index], depth + 1);
      path.pop();
    }
  }

  private visitMembers(value: object, depth: number): void {
    const { members: most = MAX_MEMBERS } = this.bounds;
    let members = 0;
    // A parsed object inherits no enumerable member.
    for (const name in value) {
      if (++members > most) reject(this.path, tooManyMembers(most));
      this.path.push(name);
      this.visitText(name);
      if (!this.bounds.allowsAnyName && name in Object.prototype)
        reject(this.path, 'is not a name that a member may have');
      this.visit(value[name as keyof typeof value], depth + 1);
      this.path.pop();
    }
  }

  private visitText(text: string): void {
    if (this.bounds.isWellFormed && !text.isWellFormed()) reject(this.path, NOT_WELL_FORMED);
    const { characters } = this.bounds;
    if (characters === undefined) return;
    this.characters += text.length;
    if (this.characters > characters) this.rejectWhole(`must have at most ${characters} characters as JSON`);
  }

  /** A total is exceeded by the member as a whole, so the error names that one. */
  private rejectWhole(problem: string): never {
    return reject(this.path.slice(0, 1), problem);
  }
}

function tooManyMembers(most: number): string {
  return `must have at most ${most} members`;
}

function reject(path: readonly (string | number)[], problem: string): never {
  throw new AppError('invalid_request', { detail: `${memberPath(path) || 'the body'}: ${problem}` });
}
