// Reads server-sent events from bytes that may be cut anywhere. Complete lines are passed on where they lie; only the
// parts of a line or an event that span several reads are copied, because a slice would keep the whole read in memory.
// Long documents are checked while they arrive: their end would take the event loop for too long at once.
import { LargeValues } from '../../json/large-values.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import type { EventData } from '../passages/passage.js';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);
// Larger buffers are released with the line that needed them.
const KEPT_BYTES = 4_096;
// Bytes of a document that are read at once. Of a longer one the names, numbers and spaces are at most MAX_TOKEN_BYTES long.
export const AT_ONCE = 262_144;
const MAX_TOKEN_BYTES = 65_536;
// Joined lines are read at their end only.
const MAX_JOINED_BYTES = 1_048_576;

export interface EventTraits extends EventData {
  /** `other`: an event of a name that says nothing of its data. */
  readonly kind: 'message' | 'error' | 'other';
  /** The bytes may be changed. */
  readonly isOwned: boolean;
}

/** The data of one event are bytes[from, to), valid during the call only. */
export type ReadEvent = (bytes: Buffer, from: number, to: number, event: EventTraits) => void;

const PLAIN: EventTraits = { kind: 'message', isOwned: false, isJoined: false, large: null };

export class EventReader {
  /** The beginning of a line whose end has not come. */
  private readonly carry = new GrowingBuffer();
  /** The data of an event whose end has not come, without the line break at its end. */
  private readonly data = new GrowingBuffer();
  private dataFrom = 0;
  private lines = 0;
  /** Of a first line that is longer than AT_ONCE. */
  private values: LargeValues | null = null;
  private kind: EventTraits['kind'] = 'message';
  /** The event began as JSON, without a field: all its lines are data. */
  private isBare = false;
  private followsCr = false;
  private isAtStart = true;

  constructor(
    private readonly maxEventBytes: number,
    private readonly onEvent: ReadEvent,
  ) {}

  /** Bytes that are held for the rest of an event. */
  get heldBytes(): number {
    return this.carry.size + this.data.size;
  }

  /** Throws AnswerBoundExceeded, and whatever `onEvent` throws. */
  push(chunk: Buffer): void {
    // JSON has no raw CR: a stream without one, which is usual, needs no search for it in every line.
    const hasCr = this.followsCr || chunk.includes(CR);
    let at = 0;
    if (this.followsCr && chunk.length > 0) {
      if (chunk[0] === LF) at = 1;
      this.followsCr = false;
    }
    while (at < chunk.length) {
      const end = hasCr ? endOfLine(chunk, at) : chunk.indexOf(LF, at);
      if (end === -1) {
        this.keep(chunk, at, chunk.length);
        return;
      }
      this.endLine(chunk, at, end);
      at = end + 1;
      if (chunk[end] === CR) {
        if (at === chunk.length) this.followsCr = true;
        else if (chunk[at] === LF) at++;
      }
    }
  }

  /** The end of the body: a last line and a last event need no line break. */
  end(): void {
    if (this.carry.length > 0) this.endLine(NOTHING, 0, 0);
    this.dispatch();
  }

  private keep(chunk: Buffer, from: number, to: number): void {
    const { carry } = this;
    this.checkSize(carry.length + to - from);
    carry.append(chunk, from, to);
    if (carry.length <= AT_ONCE || this.lines > 0) return;
    const { bytes, length } = carry;
    this.values ??= this.valuesOf(bytes, length);
    this.values?.run(bytes, length, length - MAX_TOKEN_BYTES);
  }

  private endLine(chunk: Buffer, from: number, to: number): void {
    if (this.carry.length === 0) {
      this.checkSize(to - from);
      this.line(chunk, from, to, false);
      return;
    }
    this.keep(chunk, from, to);
    const { bytes, length } = this.carry;
    this.carry.clear(KEPT_BYTES);
    this.line(bytes, 0, length, true);
  }

  private line(bytes: Buffer, start: number, to: number, isOwned: boolean): void {
    const from = this.afterMark(bytes, start, to);
    this.isAtStart = false;
    if (from === to) this.dispatch();
    else if (isField(bytes, from, to, DATA))
      this.dataLine(bytes, valueStart(bytes, from + 4, to), to, isOwned);
    else if (isField(bytes, from, to, EVENT))
      this.kind = kindOf(bytes.toString('latin1', valueStart(bytes, from + 5, to), to));
    else if (this.isBare || bytes[from] === OPEN_OBJECT || bytes[from] === OPEN_ARRAY) {
      // Some servers write an error into the stream as they would write it as a body.
      this.isBare = true;
      this.dataLine(bytes, from, to, isOwned);
    }
  }

  private dataLine(bytes: Buffer, from: number, to: number, isOwned: boolean): void {
    const isFirst = this.lines === 0 && this.kind === 'message';
    if (isFirst && bytes[to] === LF && bytes[to + 1] === LF && !isOwned) {
      // The usual event: one line in one read, and its blank line with it. The blank line dispatches nothing more.
      this.onEvent(bytes, from, to, PLAIN);
      return;
    }
    const { data } = this;
    if (this.lines++ === 0 && this.values !== null) {
      // Its beginning stays where it is: `values` knows its places.
      data.adopt(bytes, to);
      this.dataFrom = from;
      return;
    }
    const isJoined = this.lines > 1;
    const most = isJoined ? Math.min(MAX_JOINED_BYTES, this.maxEventBytes) : this.maxEventBytes;
    this.checkSize(data.length - this.dataFrom + 1 + to - from, most);
    if (isJoined) data.appendByte(LF);
    data.append(bytes, from, to);
  }

  private dispatch(): void {
    const { lines, kind, dataFrom } = this;
    const { bytes, length } = this.data;
    this.lines = 0;
    this.kind = 'message';
    this.isBare = false;
    if (lines === 0) return;
    this.dataFrom = 0;
    this.data.clear(KEPT_BYTES);
    const isJoined = lines > 1;
    const large = isJoined ? null : this.largeIn(bytes, length);
    this.values = null;
    this.onEvent(bytes, dataFrom, length, { kind, isOwned: true, isJoined, large });
  }

  private largeIn(bytes: Buffer, length: number): ReadonlyMap<number, number> | null {
    this.values?.run(bytes, length);
    return this.values?.ends ?? null;
  }

  /** Null: the line has no JSON. */
  private valuesOf(bytes: Buffer, length: number): LargeValues | null {
    let from = this.afterMark(bytes, 0, length);
    if (isField(bytes, from, length, DATA)) from = valueStart(bytes, from + DATA.length, length);
    const isDocument = bytes[from] === OPEN_OBJECT || bytes[from] === OPEN_ARRAY;
    return isDocument ? new LargeValues(from, BrokenAnswer) : null;
  }

  private afterMark(bytes: Buffer, from: number, to: number): number {
    return this.isAtStart && startsWith(bytes, from, to, BYTE_ORDER_MARK)
      ? from + BYTE_ORDER_MARK.length
      : from;
  }

  private checkSize(bytes: number, most = this.maxEventBytes): void {
    if (bytes > most) throw new AnswerBoundExceeded(`an event of the stream is larger than ${most} bytes`);
  }
}

function kindOf(name: string): EventTraits['kind'] {
  if (name === 'error') return 'error';
  return name === '' || name === 'message' ? 'message' : 'other';
}

function endOfLine(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  return -1;
}

/** `name`, followed by a colon or by the end of the line. */
function isField(bytes: Buffer, from: number, to: number, name: Buffer): boolean {
  const end = from + name.length;
  return startsWith(bytes, from, to, name) && (end === to || bytes[end] === COLON);
}

function startsWith(bytes: Buffer, from: number, to: number, start: Buffer): boolean {
  if (to - from < start.length) return false;
  for (let at = 0; at < start.length; at++) if (bytes[from + at] !== start[at]) return false;
  return true;
}

/** After the colon and one space. */
function valueStart(bytes: Buffer, nameEnd: number, to: number): number {
  const from = Math.min(nameEnd + 1, to);
  return from < to && bytes[from] === SPACE ? from + 1 : from;
}
