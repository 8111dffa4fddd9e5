// The beginning of a text within a number of bytes, for content that is stored.

/** Bytes of the largest room. */
export const MAX_ROOM = 256 * 1024;

const encoder = new TextEncoder();
const scratch = Buffer.alloc(MAX_ROOM);

/** The beginning of a value that had to fit into a given number of bytes. */
export interface Kept<Item> {
  readonly item: Item;
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** At most `room` bytes of UTF-8, in whole characters; reads no more of the text than it keeps. */
export function keepText(text: string, room: number): Kept<string> {
  // A character has at least one byte, so a text with more characters than bytes of room is not measured.
  const bytes = text.length > room ? Infinity : Buffer.byteLength(text);
  if (bytes <= room) return { item: text.toWellFormed(), bytes, isWhole: true };
  if (room <= 0) return { item: '', bytes: 0, isWhole: false };
  // Writes whole characters only. Reads them back, because a slice would retain the whole text.
  const { written } = encoder.encodeInto(text.slice(0, room), scratch.subarray(0, room));
  return { item: scratch.toString('utf8', 0, written), bytes: written, isWhole: false };
}

/**
 * The longest that texts may be so that together they take at most `room`: the longest texts are cut first. Infinity: all
 * fit as they are.
 */
export function levelOf(sizes: readonly number[], room: number): number {
  let left = room;
  const ascending = sizes.toSorted((one, other) => one - other);
  for (const [index, size] of ascending.entries()) {
    const level = left / (ascending.length - index);
    if (size > level) return Math.max(0, Math.floor(level));
    left -= size;
  }
  return Infinity;
}
