// Walks the objects of a document and collects the edits of their members.
import type { Edits } from './edits.js';
import { CLOSE_OBJECT, COLON, COMMA, JsonCursor, OPEN_OBJECT } from '../../../vectors/json-cursor.js';
import { memberName } from './member-names.js';
import type { MemberName } from './member-names.js';

/** A chunk or an answer without the form that the wire promises. */
export class BrokenChunk extends Error {}

/** A span of the document; `from` is -1 where there is none. */
export class Span {
  from = -1;
  to = -1;
  isString = false;
  isNull = false;

  clear(): void {
    this.from = -1;
    this.isString = false;
    this.isNull = false;
  }

  /** A string with at least one character. */
  get hasText(): boolean {
    return this.isString && this.to - this.from > 2;
  }
}

/** Where an object ends, and whether a member of it stays before that. */
export class ObjectEnd {
  at = -1;
  isEmpty = true;
}

export abstract class ObjectSplicer extends JsonCursor {
  constructor(protected readonly edits: Edits) {
    super(BrokenChunk);
  }

  /**
   * Reads an object; `read` consumes the value of a member and returns whether the member stays. `end` receives the end.
   */
  protected members(read: (name: MemberName | null) => boolean, end: ObjectEnd | null): void {
    this.expect(OPEN_OBJECT);
    let hasKept = false;
    // The beginning of members that are dropped before any that stays.
    let droppedFrom = -1;
    let separator = -1;
    if (this.peek() === CLOSE_OBJECT) this.at++;
    else {
      for (;;) {
        this.peek();
        const start = this.at;
        this.skipString();
        const name = memberName(this.bytes, start + 1, this.at - 1);
        this.expect(COLON);
        const isKept = read(name);
        if (isKept) {
          if (!hasKept && droppedFrom !== -1) this.edits.remove(droppedFrom, start);
          hasKept = true;
        } else if (hasKept) this.edits.remove(separator, this.at);
        else if (droppedFrom === -1) droppedFrom = start;
        this.skipSpace();
        separator = this.at;
        if (this.accept(COMMA)) continue;
        this.expect(CLOSE_OBJECT);
        break;
      }
    }
    if (!hasKept && droppedFrom !== -1) this.edits.remove(droppedFrom, this.at - 1);
    if (end) {
      end.at = this.at - 1;
      end.isEmpty = !hasKept;
    }
  }

  protected span(span: Span): void {
    span.isString = this.isString();
    span.isNull = !span.isString && this.isNull();
    span.from = this.at;
    if (span.isString) this.skipString();
    else this.skipValue();
    span.to = this.at;
  }

  protected matches(text: Buffer, from: number): boolean {
    for (let at = 0; at < text.length; at++) if (this.bytes[from + at] !== text[at]) return false;
    return true;
  }
}
