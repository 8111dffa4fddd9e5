// The members of an object that a reader knows by name.
import { BACKSLASH } from './json-cursor.js';

const KEYS = 1_024;

interface KnownMember {
  readonly name: string;
  readonly bytes: Buffer;
  /** The shape of its object, or of the objects in its list; null: the value stays closed. */
  readonly inside: JsonShape | null;
}

export class JsonShape {
  private readonly byKey: (KnownMember[] | undefined)[] = Array.from({ length: KEYS });

  constructor(
    private readonly names: readonly string[],
    inside: Readonly<Record<string, JsonShape>> = {},
  ) {
    for (const name of names) {
      const bytes = Buffer.from(name);
      const key = keyOf(bytes, 0, bytes.length);
      const known = { name, bytes, inside: inside[name] ?? null };
      (this.byKey[key] ??= []).push(known);
    }
  }

  /** The member whose name is bytes[from, to), without its quotes. Comparing bytes takes less than a string per name. */
  find(bytes: Buffer, from: number, to: number): KnownMember | null {
    const candidates = this.byKey[keyOf(bytes, from, to)];
    if (candidates !== undefined)
      for (const known of candidates)
        if (to - from === known.bytes.length && isEqual(bytes, from, known.bytes)) return known;
    // An escape can spell a known name.
    for (let at = from; at < to; at++) if (bytes[at] === BACKSLASH) return this.spelled(bytes, from, to);
    return null;
  }

  private spelled(bytes: Buffer, from: number, to: number): KnownMember | null {
    const name = JSON.parse(`"${bytes.toString('utf8', from, to)}"`) as string;
    return this.names.includes(name) ? this.find(Buffer.from(name), 0, Buffer.byteLength(name)) : null;
  }
}

/** By the length and the first letter. */
function keyOf(bytes: Buffer, from: number, to: number): number {
  return (((to - from) & 31) << 5) | ((bytes[from] ?? 0) & 31);
}

export function isEqual(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false;
  return true;
}
