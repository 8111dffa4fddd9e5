// Values of a document that is known to be JSON, byte for byte.
import { JsonScanner } from './json-scanner.js';

class NotJson extends Error {}

export function rawElements(list: Buffer): Buffer[] {
  const scanner = new JsonScanner(list, NotJson);
  const elements: Buffer[] = [];
  scanner.eachElement(() => elements.push(scanner.rawValue()));
  return elements;
}

/** Of a repeated member the last, as parsers take it. Null: absent. */
export function rawMember(object: Buffer, wanted: string): Buffer | null {
  const scanner = new JsonScanner(object, NotJson);
  let found: Buffer | null = null;
  scanner.eachMember((name) => {
    if (name === wanted) found = scanner.rawValue();
    else scanner.skipValue();
  });
  return found;
}

export function isRawList(value: Buffer): boolean {
  return new JsonScanner(value, NotJson).isArray();
}
