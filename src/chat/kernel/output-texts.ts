// The texts of an answer for its record and for counting, as they came: escaped, within one bound for all of them. The
// longest are cut first (docs/contract.md#chat-usage).
import { GrowingBuffer } from './growing-buffer.js';

/** Bytes of JSON text. */
const MAX_KEPT_BYTES = 262_144;
// Texts are cut when this many more have come: cutting looks at all of them.
const SURPLUS_BYTES = 65_536;
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/;
const CUT_CHARACTER = /\ufffd$/;
const CUT_PAIR = /[\ud800-\udbff]$/;

/** The texts of an answer, for counting its tokens. */
export interface OutputCount {
  /** Content, reasoning, refusals, names and arguments of tool calls, as far as they are kept. */
  readonly texts: readonly string[];
  /** The ratio of all bytes to those that are kept: texts beyond the bound count at the rate of the others. */
  readonly factor: number;
  /** Of what no reader knows, and clients get. */
  readonly unreadBytes: number;
}

export class OutputText extends GrowingBuffer {
  isCut = false;

  /** The text, without the part of a character at a cut. */
  get value(): string {
    let escaped = this.bytes.toString('utf8', 0, this.length);
    if (!this.isCut) return JSON.parse(`"${escaped}"`) as string;
    escaped = escaped.replace(CUT_CHARACTER, '');
    // Complete escapes first: a backslash that is escaped itself begins nothing.
    const complete = escaped.replaceAll(/\\\\/g, '\0\0');
    escaped = escaped.slice(0, complete.replace(CUT_ESCAPE, '').length);
    return (JSON.parse(`"${escaped}"`) as string).replace(CUT_PAIR, '');
  }

  cutTo(length: number): void {
    this.isCut = true;
    this.length = length;
  }
}

export class OutputTexts {
  /** The memory of all texts. */
  size = 0;
  private readonly texts: OutputText[] = [];
  private kept = 0;
  private received = 0;
  private hasCuts = false;

  create(): OutputText {
    const text = new OutputText();
    this.texts.push(text);
    return text;
  }

  append(text: OutputText, source: Buffer, from: number, to: number): void {
    this.received += to - from;
    if (text.isCut) return;
    const taken = Math.min(to - from, MAX_KEPT_BYTES + SURPLUS_BYTES - text.length);
    const before = text.size;
    text.append(source, from, from + taken);
    this.size += text.size - before;
    this.kept += taken;
    if (taken < to - from) text.isCut = this.hasCuts = true;
    if (this.kept > MAX_KEPT_BYTES + SURPLUS_BYTES) this.cut();
  }

  /** The bytes of all texts that came against those that are kept: at least 1. */
  get shareOfKept(): number {
    this.cut();
    return this.kept === 0 ? 1 : this.received / this.kept;
  }

  get keptTexts(): string[] {
    this.cut();
    return this.texts.map((text) => text.value).filter((text) => text !== '');
  }

  get isCut(): boolean {
    this.cut();
    return this.hasCuts;
  }

  /** Cuts the longest texts to one length, at which all fit the bound. Texts that are cut stay so. */
  cut(): void {
    if (this.kept <= MAX_KEPT_BYTES) return;
    const byLength = this.texts.toSorted((one, other) => one.length - other.length);
    let room = MAX_KEPT_BYTES;
    let left = byLength.length;
    for (const text of byLength) {
      const part = Math.floor(room / left--);
      if (text.length > part) {
        this.hasCuts = true;
        text.cutTo(part);
      }
      room -= text.length;
    }
    this.kept = MAX_KEPT_BYTES - room;
  }
}
