// Replacements of spans of a document, applied while it is copied.
import type { GrowingBuffer } from '../growing-buffer.js';

const NOTHING = Buffer.alloc(0);

export class Edits {
  private count = 0;
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  private readonly texts: Buffer[] = [];

  clear(): void {
    this.count = 0;
    this.texts.length = 0;
  }

  remove(from: number, to: number): void {
    this.replace(from, to, NOTHING);
  }

  insert(at: number, text: Buffer): void {
    this.replace(at, at, text);
  }

  /** Spans must not overlap. They come nearly in order; insertions at one place keep the order of the calls. */
  replace(from: number, to: number, text: Buffer): void {
    let index = this.count++;
    while (index > 0 && (this.starts[index - 1] ?? 0) > from) {
      this.starts[index] = this.starts[index - 1] ?? 0;
      this.ends[index] = this.ends[index - 1] ?? 0;
      this.texts[index] = this.texts[index - 1] ?? NOTHING;
      index--;
    }
    this.starts[index] = from;
    this.ends[index] = to;
    this.texts[index] = text;
  }

  /** Copies bytes[from, to) with the replacements. */
  copyTo(output: GrowingBuffer, bytes: Buffer, from: number, to: number): void {
    let at = from;
    for (let index = 0; index < this.count; index++) {
      const start = this.starts[index] ?? 0;
      if (start > at) output.append(bytes, at, start);
      const text = this.texts[index] ?? NOTHING;
      if (text.length > 0) output.append(text, 0, text.length);
      at = Math.max(at, this.ends[index] ?? 0);
    }
    if (to > at) output.append(bytes, at, to);
  }
}
