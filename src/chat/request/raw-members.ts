// The members of a body with their JSON text, byte for byte: numbers beyond a double's precision keep their digits.
import { AppError } from '../../domain/errors.js';
import { memberPath } from '../../domain/text/member-path.js';
import { JsonScanner } from '../../json/json-scanner.js';

class MalformedBody extends Error {}

/**
 * Reads a body that is known to be a JSON object; an empty one has no members. Throws `invalid_request` for a repeated
 * name, because parsers disagree on its value, and for a value that is nested deeper than the scanner reads.
 */
export function readRawMembers(bytes: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  if (bytes.length === 0) return members;
  const scanner = new JsonScanner(bytes, MalformedBody);
  scanner.eachMember((name) => {
    if (members.has(name))
      throw new AppError('invalid_request', { detail: `${memberPath([name])}: must not be repeated` });
    members.set(name, rawValue(scanner, name));
  });
  return members;
}

// Settings that the record of a call keeps. Longer members are texts of the prompt.
const KEPT_BYTES = 4_096;
const KEPT_WHOLE = 'stop';

/** Once no further provider can be tried, the bytes of the body are released: only settings are kept, as copies. */
export function releaseRawMembers(members: Map<string, Buffer>): void {
  for (const [name, bytes] of members)
    if (bytes.length > KEPT_BYTES && name !== KEPT_WHOLE) members.delete(name);
    else members.set(name, Buffer.from(bytes));
}

function rawValue(scanner: JsonScanner, name: string): Buffer {
  try {
    return scanner.rawValue();
  } catch (error) {
    if (!(error instanceof MalformedBody)) throw error;
    throw new AppError('invalid_request', { detail: `${memberPath([name])}: is nested too deeply` });
  }
}

/**
 * Throws `invalid_request` for an unknown name that equals a known one but for its case: servers that match names without
 * their case would read it instead of the checked member.
 */
export function rejectCaseTwins(names: Iterable<string>, known: ReadonlyMap<string, string>): void {
  for (const name of names) {
    const twin = known.get(foldedName(name));
    if (twin !== undefined && twin !== name)
      throw new AppError('invalid_request', { detail: `${memberPath([name])}: is spelt ${twin}` });
  }
}

/** Known names by their folded form. */
export function namesByFold(names: readonly string[]): Map<string, string> {
  return new Map(names.map((name) => [foldedName(name), name]));
}

/** Through capitals: the long s and the Kelvin sign equal s and k for servers that fold Unicode. */
function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase();
}
