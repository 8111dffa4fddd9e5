// Estimates the program size of a regular expression from its text: an upper bound, before compilation. A counted
// repeat copies its operand, so 1,000 characters can produce a million instructions, which take seconds and gigabytes.

/** Instructions of one regular expression: about `.{1000}`. Larger ones are refused. */
export const MAX_REGEX_SIZE = 1_200;
/** Instructions of all regular expressions of a filter, which compile within some 50 ms. Larger sums are refused. */
export const MAX_REGEX_SIZE_OF_FILTER = 2_500;
/** Nested groups. Deeper nesting is refused. */
export const MAX_REGEX_DEPTH = 50;

export interface RegexSize {
  /** Instructions, plus the time to read their character classes as a number of instructions. */
  readonly size: number;
  /** The part of the size that is for reading. It does not slow down matching. */
  readonly reading: number;
  /** The deepest group. */
  readonly depth: number;
}

// The two instructions of every program.
export const REGEX_FRAME = 2;
const CAPTURE = 2;
// A class such as \pL has some 650 ranges, which are searched for every character.
const UNICODE_CLASS = 10;
// Reading such a class takes as long as this many instructions. A Perl class is small unless it is negated.
const READING_UNICODE_CLASS = 20;
const READING_NEGATED_CLASS = 2;
// Without case, a range is read character by character up to the last one with two cases.
const CHARACTERS_PER_INSTRUCTION = 250;
const LAST_WITH_CASE = 125_251;
// The upper bound of all sums, which keeps them finite.
const IMMENSE = 1e9;

/** The sums of one group so far. */
interface Group {
  /** The size of all alternatives so far. */
  size: number;
  /** The size of the last piece, which a following repeat multiplies. */
  last: number;
  /** Whether the last alternative is empty so far, which takes an instruction as well. */
  isEmpty: boolean;
  readonly own: number;
}

const REPEAT = /\{(\d{1,8})(,(\d{1,8})?)?\}/y;
const FLAGS = /\(\?[a-zA-Z-]+\)/y;
const OPENING = /\((?:\?P?<[^>!=]*>|\?[a-zA-Z-]*:|(?!\?))/y;
const ESCAPE = /\\(?:[pP](?:\{[^}]*\}|[^{])|x\{[^}]*\}|x[0-9a-fA-F]{2}|[0-7]{1,3}|[^])/uy;
const POSIX_CLASS = /\[:\^?[a-z]+:\]/y;
const QUOTED = /\\Q([^]*?)(?:\\E|$)/y;
const CHARACTER = /[^]/uy;
const RANGE_FOLLOWS = /-(?!\])/y;
const HEX_OR_OCTAL = /^\\(?:x\{?([0-9a-fA-F]+)\}?|([0-7]+))$/;
const IGNORING_CASE = /\(\?[a-zA-Z]*i/;

/** Returns some size for invalid patterns: only the compiler detects those. */
export function sizeOfRegex(pattern: string): RegexSize {
  const reader = new Reader(pattern);
  const ignoresCase = IGNORING_CASE.test(pattern);
  const open: Group[] = [];
  // A repeated class is read once.
  let reading = 0;
  let group: Group = newGroup(0);
  let depth = 0;
  const add = (size: number): void => {
    group.size += group.last;
    group.last = Math.min(size, IMMENSE);
    group.isEmpty = false;
  };
  const endAlternative = (): void => {
    if (group.isEmpty) add(1);
  };
  while (!reader.isAtEnd) {
    const quoted = reader.take(QUOTED);
    if (quoted) {
      const { length } = [...(quoted[1] ?? '')];
      if (length > 0) add(length - 1);
      if (length > 0) add(1);
    } else if (reader.take(FLAGS)) {
      // A repeat after flags applies to the piece before them.
      continue;
    } else if (reader.takeIf('[')) {
      const read = readClass(reader, ignoresCase);
      reading += read.reading;
      add(read.size);
    } else if (reader.takeIf('|')) {
      endAlternative();
      add(1);
      add(0);
      group.isEmpty = true;
    } else if (reader.takeIf(')')) {
      endAlternative();
      const size = Math.min(group.size + group.last + group.own, IMMENSE);
      group = open.pop() ?? newGroup(0);
      add(size);
    } else {
      const opening = reader.take(OPENING);
      const size = opening ? null : repeatedSize(reader, group.last);
      if (opening) {
        open.push(group);
        depth = Math.max(depth, open.length);
        group = newGroup(opening[0].endsWith(':') ? 0 : CAPTURE);
      } else if (size !== null) {
        group.last = Math.min(size, IMMENSE);
      } else {
        const read = readCharacter(reader);
        reading += read.reading;
        add(read.size);
      }
    }
  }
  endAlternative();
  // The compiler refuses unclosed groups; their size counts anyway.
  const size = [group, ...open].reduce(
    (sum, each) => sum + each.size + each.last + each.own,
    REGEX_FRAME + reading,
  );
  return { size: Math.min(size, IMMENSE), reading, depth };
}

function newGroup(own: number): Group {
  return { size: 0, last: 0, isEmpty: true, own };
}

/** Null when no repeat follows. */
function repeatedSize(reader: Reader, repeated: number): number | null {
  const counted = reader.take(REPEAT);
  if (counted) {
    const [, least = '', comma, most] = counted;
    const min = Number(least);
    if (most !== undefined) return Math.max(Number(most), 1) * repeated + Math.max(Number(most) - min, 0);
    return Math.max(min, 1) * repeated + (comma === undefined ? 0 : 2);
  }
  if (reader.takeIf('*')) return repeated + 2;
  // A question mark behind a repeat makes it lazy; it counts as one more.
  return reader.takeIf('+') || reader.takeIf('?') ? repeated + 1 : null;
}

interface Piece {
  readonly size: number;
  readonly reading: number;
}

function readCharacter(reader: Reader): Piece {
  const escape = reader.take(ESCAPE);
  if (escape) return { size: isUnicodeClass(escape[0]) ? UNICODE_CLASS : 1, reading: readingOf(escape[0]) };
  reader.take(CHARACTER);
  return { size: 1, reading: 0 };
}

/** Reads up to the closing bracket. */
function readClass(reader: Reader, ignoresCase: boolean): Piece {
  let size = reader.takeIf('^') ? 2 : 1;
  let reading = 0;
  let isFirst = true;
  while (!reader.isAtEnd && (isFirst || !reader.takeIf(']'))) {
    isFirst = false;
    if (reader.take(POSIX_CLASS)) continue;
    const member = (reader.take(ESCAPE) ?? reader.take(CHARACTER))?.[0] ?? '';
    reading += readingOf(member);
    if (isUnicodeClass(member)) size = UNICODE_CLASS;
    else if (reader.take(RANGE_FOLLOWS)) {
      const to = (reader.take(ESCAPE) ?? reader.take(CHARACTER))?.[0] ?? '';
      if (ignoresCase) reading += readingOfRange(member, to);
    }
  }
  return { size, reading };
}

function isUnicodeClass(escape: string): boolean {
  return /^\\p/i.test(escape);
}

function readingOf(escape: string): number {
  if (isUnicodeClass(escape)) return READING_UNICODE_CLASS;
  return /^\\[DSW]/.test(escape) ? READING_NEGATED_CLASS : 0;
}

function readingOfRange(from: string, to: string): number {
  const span = Math.min(codePointOf(to), LAST_WITH_CASE) - codePointOf(from);
  return Math.max(0, Math.ceil(span / CHARACTERS_PER_INSTRUCTION));
}

/** For an escape without a number: its last character, which is close enough. */
function codePointOf(member: string): number {
  const [, hex, octal] = HEX_OR_OCTAL.exec(member) ?? [];
  if (hex !== undefined) return parseInt(hex, 16);
  return octal === undefined ? (member.replace(/^\\/, '').codePointAt(0) ?? 0) : parseInt(octal, 8);
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  takeIf(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  /** `form` is sticky. */
  take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.at;
    const found = form.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }
}
