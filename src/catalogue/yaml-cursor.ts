// Strict reader of a YAML document: every error is one line with the file, the line and the member.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, Scalar, YAMLMap } from 'yaml';

const MAX_MESSAGE_LENGTH = 500;

/** A file that cannot be used. The message is one line for the operator, for any content of the file. */
export class CatalogueFileError extends Error {
  constructor(message: string) {
    super(message.slice(0, MAX_MESSAGE_LENGTH).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'));
  }
}

interface YamlSource {
  readonly fileName: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/** A value of the document with its position. */
export class YamlCursor {
  private constructor(
    private readonly source: YamlSource,
    /** Empty at the top. */
    private readonly path: string,
    private readonly node: Node | null,
    private readonly line: number,
  ) {}

  static parse(text: string, fileName: string): YamlCursor {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) {
      const { line } = lines.linePos(problem.pos[0]);
      throw new CatalogueFileError(`${fileName}:${line}: is not valid YAML: ${firstLine(problem.message)}`);
    }
    return new YamlCursor({ fileName, document, lines }, '', null, 1).at('', document.contents);
  }

  fail(problem: string): never {
    const where = this.path === '' ? '' : ` ${this.path}:`;
    throw new CatalogueFileError(`${this.source.fileName}:${this.line}:${where} ${problem}`);
  }

  isNull(): boolean {
    return this.node === null || (isScalar(this.node) && this.node.value === null);
  }

  /** Rejects members with other names. */
  object(names: readonly string[]): YamlObject {
    if (!isMap(this.node)) return this.fail('must be an object');
    const members = new Map<string, YamlCursor>();
    for (const { key, value } of (this.node as YAMLMap<Node, Node | null>).items) {
      const name = isScalar(key) ? String(key.value) : '?';
      const member = this.at(this.path === '' ? name : `${this.path}.${name}`, value, key);
      if (!names.includes(name)) member.fail(`is not known here; known are ${names.join(', ')}`);
      members.set(name, member);
    }
    return new YamlObject(this, members);
  }

  isList(): boolean {
    return isSeq(this.node);
  }

  list(): YamlCursor[] {
    if (!isSeq(this.node)) return this.fail('must be a list');
    return this.node.items.map((item, index) => this.at(`${this.path}[${index}]`, item as Node | null));
  }

  text(pattern: RegExp, description: string): string {
    const value = this.scalar()?.value;
    return typeof value === 'string' && pattern.test(value) ? value : this.fail(`must be ${description}`);
  }

  boolean(): boolean {
    const value = this.scalar()?.value;
    return typeof value === 'boolean' ? value : this.fail('must be true or false');
  }

  integer(least: number, most: number): number {
    const value = this.scalar()?.value;
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
    return isRight ? value : this.fail(`must be a whole number from ${least} to ${most}`);
  }

  /** `canonical` returns the value that another spelling stands for. */
  choice<Value extends string>(
    values: readonly Value[],
    canonical: (written: string) => string | undefined = (written) => written,
  ): Value {
    const written = this.scalar()?.value;
    const value = typeof written === 'string' ? canonical(written) : written;
    return (
      values.find((candidate) => candidate === value) ?? this.fail(`must be one of ${values.join(', ')}`)
    );
  }

  /** The text as written, number or string, so that no digit is rounded away. */
  decimal(): string {
    const scalar = this.scalar();
    const written = typeof scalar?.value === 'number' ? (scalar.source ?? '') : scalar?.value;
    return typeof written === 'string' && /^\d{1,9}(?:\.\d{1,18})?$/.test(written)
      ? written
      : this.fail('must be a decimal number that is not negative');
  }

  private scalar(): Scalar | null {
    return isScalar(this.node) ? this.node : null;
  }

  private at(path: string, written: Node | null, nearby: Node | null = written): YamlCursor {
    const node = isAlias(written) ? (written.resolve(this.source.document) ?? null) : written;
    const offset = (nearby ?? written)?.range?.[0];
    const line = offset === undefined ? this.line : this.source.lines.linePos(offset).line;
    return new YamlCursor(this.source, path, node, line);
  }
}

/** The members of an object, all of known names. */
export class YamlObject {
  constructor(
    private readonly cursor: YamlCursor,
    private readonly members: ReadonlyMap<string, YamlCursor>,
  ) {}

  /** Returns `read` of the member; without the member `fallback`, or an error if there is none. */
  read<Value>(name: string, read: (member: YamlCursor) => Value, fallback?: Value): Value {
    const member = this.members.get(name);
    if (member) return read(member);
    return fallback === undefined ? this.cursor.fail(`${name} is missing`) : fallback;
  }

  optional<Value>(name: string, read: (member: YamlCursor) => Value): Value | undefined {
    const member = this.members.get(name);
    return member && read(member);
  }
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? '';
}
