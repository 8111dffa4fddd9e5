// How large the program of a regular expression becomes, from its text alone: an upper bound, before anything is compiled.
// A counted repeat copies what it repeats, so that 1,000 characters can stand for a million instructions, which take
// seconds and gigabytes to make.

/** Of one regular expression: about `.{1000}`. */
export const MAX_REGEX_SIZE = 1_200;
/** Of all regular expressions of a filter together: what compiles within some 50 ms. */
export const MAX_REGEX_SIZE_OF_FILTER = 2_500;
/** Groups within groups. */
export const MAX_REGEX_DEPTH = 50;

export interface RegexSize {
  /** Instructions, and what it takes to read the classes that they compare with, in as many instructions. */
  readonly size: number;
  /** The part of it that is for reading: it says nothing about how long a text takes. */
  readonly reading: number;
  /** The deepest group. */
  readonly depth: number;
}

// The two instructions that every program has.
export const REGEX_FRAME = 2;
const CAPTURE = 2;
// A class such as \pL has some 650 ranges, which every character is looked up in.
const UNICODE_CLASS = 10;
// Reading such a class takes as long as making so many instructions; a Perl class is small, but negated it is not.
const READING_UNICODE_CLASS = 20;
const READING_NEGATED_CLASS = 2;
// Ignoring case, a range is read character by character, up to the last one that has two cases.
const CHARACTERS_PER_INSTRUCTION = 250;
const LAST_WITH_CASE = 125_251;
// Beyond this nothing is told apart any more: sums stay finite.
const IMMENSE = 1e9;

/** Sums of what has been read of one group. */
interface Group {
  /** Of all alternatives so far. */
  size: number;
  /** Of the last piece, which a repeat behind it multiplies. */
  last: number;
  /** Whether the last alternative has nothing in it so far; that takes an instruction as well. */
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

/** Of what is no valid expression some size: whether it is one only the compiler tells. */
export function sizeOfRegex(pattern: string): RegexSize {
  const reader = new Reader(pattern);
  const ignoresCase = IGNORING_CASE.test(pattern);
  const open: Group[] = [];
  // What is repeated is read once.
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
      // A repeat behind it repeats what stands before it.
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
  // What is not closed is refused by the compiler; its size counts all the same.
  const size = [group, ...open].reduce(
    (sum, each) => sum + each.size + each.last + each.own,
    REGEX_FRAME + reading,
  );
  return { size: Math.min(size, IMMENSE), reading, depth };
}

function newGroup(own: number): Group {
  return { size: 0, last: 0, isEmpty: true, own };
}

/** Null where no repeat follows. */
function repeatedSize(reader: Reader, repeated: number): number | null {
  const counted = reader.take(REPEAT);
  if (counted) {
    const [, least = '', comma, most] = counted;
    const min = Number(least);
    if (most !== undefined) return Math.max(Number(most), 1) * repeated + Math.max(Number(most) - min, 0);
    return Math.max(min, 1) * repeated + (comma === undefined ? 0 : 2);
  }
  if (reader.takeIf('*')) return repeated + 2;
  // Behind a repeat a question mark makes it lazy; counted as one more.
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

/** Of an escape that is none of a number its last character, which is near enough. */
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
