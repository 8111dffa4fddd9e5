// Removes elements of a JSON list, or of the list `content` of its elements. All other values stay their bytes.
import { JsonScanner } from '../../../json/json-scanner.js';

class NotJson extends Error {}

type Cuts = ReadonlyMap<number, readonly number[] | null>;

const COMMA = Buffer.from(',');

/** By index: null removes the whole element, a list removes those of its content. `list` is known to be a list of JSON. */
export function withoutElements(list: Buffer, cuts: Cuts): Buffer {
  const pieces: Buffer[] = [];
  const scanner = new JsonScanner(list, NotJson);
  let index = 0;
  scanner.eachElement(() => {
    const element = scanner.rawValue();
    const cut = cuts.get(index++);
    if (cut === null) return;
    if (pieces.length > 0) pieces.push(COMMA);
    pieces.push(cut === undefined ? element : withoutContent(element, cut));
  });
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}

function withoutContent(element: Buffer, removed: readonly number[]): Buffer {
  const scanner = new JsonScanner(element, NotJson);
  let content: Buffer | null = null;
  scanner.eachMember((name) => {
    if (name === 'content') content = scanner.rawValue();
    else scanner.skipValue();
  });
  if (content === null) return element;
  const { byteOffset, length } = content as Buffer;
  const from = byteOffset - element.byteOffset;
  return Buffer.concat([
    element.subarray(0, from),
    withoutElements(content, new Map(removed.map((at) => [at, null]))),
    element.subarray(from + length),
  ]);
}
