// The texts of an answer for its record and for counting, as they came: escaped, within one bound for all of them. The
// longest are cut first (docs/contract.md#chat-usage).
import { GrowingBuffer } from '../growing-buffer.js';

/** Bytes of JSON text. */
const MAX_KEPT_BYTES = 262_144;
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/;
const CUT_CHARACTER = /\ufffd$/;
const CUT_PAIR = /[\ud800-\udbff]$/;

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
  private readonly texts: OutputText[] = [];
  private kept = 0;
  private received = 0;

  create(): OutputText {
    const text = new OutputText();
    this.texts.push(text);
    return text;
  }

  append(text: OutputText, source: Buffer, from: number, to: number): void {
    this.received += to - from;
    if (text.isCut) return;
    const excess = this.kept + (to - from) - MAX_KEPT_BYTES;
    const taken = excess > 0 ? this.makeRoom(text, to - from, excess) : to - from;
    text.append(source, from, from + taken);
    this.kept += taken;
    if (taken < to - from) text.isCut = true;
  }

  /** The bytes of all texts that came against those that are kept: at least 1. */
  get shareOfKept(): number {
    return this.kept === 0 ? 1 : this.received / this.kept;
  }

  get keptTexts(): string[] {
    return this.texts.map((text) => text.value).filter((text) => text !== '');
  }

  get isCut(): boolean {
    return this.texts.some((text) => text.isCut);
  }

  /** The memory of all texts. */
  get size(): number {
    return this.texts.reduce((sum, text) => sum + text.size, 0);
  }

  /** Cuts longer texts. Returns how many of `wanted` bytes fit. */
  private makeRoom(text: OutputText, wanted: number, excess: number): number {
    let missing = excess;
    while (missing > 0) {
      const longest = this.texts.reduce((most, other) => (other.length > most.length ? other : most), text);
      const surplus = longest.length - (text.length + wanted - missing);
      if (longest === text || surplus <= 0) break;
      const cut = Math.min(missing, surplus);
      longest.cutTo(longest.length - cut);
      this.kept -= cut;
      missing -= cut;
    }
    return wanted - missing;
  }
}
