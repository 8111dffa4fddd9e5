// Removes elements of a JSON list, or of the list `content` of its elements. All other values stay their bytes.
import { rawElements, rawMember } from './raw-values.js';

type Cuts = ReadonlyMap<number, readonly number[] | null>;

const COMMA = Buffer.from(',');

/** An element of a member that is a list. */
interface Cut {
  readonly member: string;
  readonly index: number;
  /** Null: the whole element. A list: those of its content. */
  readonly inner: readonly number[] | null;
}

/** `value`: of the member `name`. Where a cut names the member, it is known to be a list of JSON. */
export function withoutCuts(name: string, value: Buffer, cuts: readonly Cut[]): Buffer {
  const own = cuts.filter(({ member }) => member === name);
  if (own.length === 0) return value;
  return withoutElements(value, new Map(own.map(({ index, inner }) => [index, inner])));
}

/** By index: null removes the whole element, a list removes those of its content. */
function withoutElements(list: Buffer, cuts: Cuts): Buffer {
  const pieces: Buffer[] = [];
  for (const [index, element] of rawElements(list).entries()) {
    const cut = cuts.get(index);
    if (cut === null) continue;
    if (pieces.length > 0) pieces.push(COMMA);
    pieces.push(cut === undefined ? element : withoutContent(element, cut));
  }
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}

function withoutContent(element: Buffer, removed: readonly number[]): Buffer {
  const content = rawMember(element, 'content');
  if (content === null) return element;
  const from = content.byteOffset - element.byteOffset;
  return Buffer.concat([
    element.subarray(0, from),
    withoutElements(content, new Map(removed.map((at) => [at, null]))),
    element.subarray(from + content.length),
  ]);
}
