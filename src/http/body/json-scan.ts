// Bounds the structure of a large JSON text before it is parsed. JSON.parse needs seconds for an object of a million
// members or for millions of empty arrays, and milliseconds for as many bytes of text or token numbers.
import type { Pace } from '../../concurrency/yield-queue.js';
import { AppError } from '../../domain/errors.js';
import { memberPath } from '../../domain/text/member-path.js';
import { MAX_MEMBERS } from '../fields/json-shape.js';

// Bytes. A shorter text is parsed within milliseconds whatever it contains, and its shape is checked afterwards.
const SCANNED_FROM = 64 * 1024;
// A text with fewer colons and brackets cannot exceed any bound by much.
const FEW = 1_000;
// Objects and arrays in one body; more than the inputs of any valid call.
const MAX_CONTAINERS = 2 ** 19;
// Slightly deeper than any member may be: the check of the shape names a member.
const MAX_DEPTH = 48;
export interface ScanBounds {
  /** Levels of nesting. */
  readonly depth: number;
  /** Members of one object. */
  readonly members: number;
}
const USUAL_BOUNDS: ScanBounds = { depth: MAX_DEPTH, members: MAX_MEMBERS };
// Bytes that are scanned between two looks at the clock.
const BYTES_PER_STEP = 2 ** 18;
// Bytes of a string that are read one by one before the native search for its end takes over.
const SHORT_STRING = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether the text must be scanned before it is parsed. Takes about a millisecond at most. */
export function needsScan(bytes: Buffer): boolean {
  return (
    bytes.length >= SCANNED_FROM &&
    [COLON, OPEN_OBJECT, OPEN_ARRAY].some((byte) => hasMoreThan(FEW, byte, bytes))
  );
}

/**
 * Throws `invalid_request` with the path of the object with too many members, the nesting that is too deep, or the
 * value beyond the count.
 */
export async function scanJson(bytes: Buffer, pace: Pace, bounds = USUAL_BOUNDS): Promise<void> {
  const scan = new StructureScan(bytes, bounds);
  for (let until = BYTES_PER_STEP; !scan.run(until); until += BYTES_PER_STEP)
    if (pace.isDue) await pace.yieldNow();
}

/** The same in one turn: for a text that is not much longer than those that need no scan. */
export function scanJsonAtOnce(bytes: Buffer, bounds = USUAL_BOUNDS): void {
  new StructureScan(bytes, bounds).run(bytes.length);
}

/** Tracks quotes, brackets, colons and commas only. Malformed JSON is left to the parser. */
class StructureScan {
  private at = 0;
  private depth = 0;
  private containers = 0;
  private stringStart = 0;
  private stringEnd = 0;
  /** By depth: members of the object so far, or the index in the array. */
  private readonly counts: Int32Array;
  private readonly isArray: Uint8Array;
  /** By depth: the position of the current member's name. */
  private readonly names: Int32Array;

  constructor(
    private readonly bytes: Buffer,
    private readonly bounds: ScanBounds,
  ) {
    this.counts = new Int32Array(bounds.depth + 1);
    this.isArray = new Uint8Array(bounds.depth + 1);
    this.names = new Int32Array(2 * (bounds.depth + 1));
  }

  /** True: the text was scanned to its end. */
  run(until: number): boolean {
    const { bytes } = this;
    const end = Math.min(until, bytes.length);
    while (this.at < end && this.depth >= 0) {
      const byte = bytes[this.at++];
      if (byte === QUOTE) {
        this.stringStart = this.at;
        this.at = endOfString(bytes, this.at);
        this.stringEnd = this.at - 1;
      } else if (byte === COMMA) this.countElement();
      else if (byte === COLON) this.countMember();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.open(byte === OPEN_ARRAY);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.depth--;
    }
    return this.at >= bytes.length || this.depth < 0;
  }

  private countElement(): void {
    if (this.isArray[this.depth]) this.counts[this.depth] = (this.counts[this.depth] ?? 0) + 1;
  }

  private countMember(): void {
    const { depth } = this;
    const count = (this.counts[depth] ?? 0) + 1;
    this.counts[depth] = count;
    // The path is that of the object, without the name of this member.
    const { members } = this.bounds;
    if (count > members) this.reject(depth - 1, `must have at most ${members} members`);
    this.names[2 * depth] = this.stringStart;
    this.names[2 * depth + 1] = this.stringEnd;
  }

  private open(isArray: boolean): void {
    if (++this.containers > MAX_CONTAINERS)
      this.reject(1, `must have at most ${MAX_CONTAINERS} objects and arrays in all`);
    if (this.depth === this.bounds.depth) this.reject(1, 'is nested too deeply');
    this.depth++;
    this.counts[this.depth] = 0;
    this.isArray[this.depth] = Number(isArray);
  }

  private reject(deepest: number, problem: string): never {
    const path: (string | number)[] = [];
    for (let depth = 1; depth <= deepest; depth++) {
      path.push(this.isArray[depth] ? (this.counts[depth] ?? 0) : this.nameAt(depth));
    }
    throw new AppError('invalid_request', { detail: `${memberPath(path) || 'the body'}: ${problem}` });
  }

  private nameAt(depth: number): string {
    return this.bytes.toString('utf8', this.names[2 * depth], this.names[2 * depth + 1]);
  }
}

/** The index behind the closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    for (const near = at + SHORT_STRING; at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) break;
    let backslashes = 0;
    while (quote - backslashes > at && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++;
    at = quote + 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
}

function hasMoreThan(count: number, byte: number, bytes: Buffer): boolean {
  let at = -1;
  for (let found = 0; found <= count; found++) {
    at = bytes.indexOf(byte, at + 1);
    if (at === -1) return false;
  }
  return true;
}
