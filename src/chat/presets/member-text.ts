// The members of a body with their JSON text.

export interface Member {
  readonly bytes: Buffer;
  readonly value: unknown;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

export function memberOf(value: unknown): Member {
  return { bytes: Buffer.from(JSON.stringify(value)), value };
}

/** The JSON text of the object. */
export function joinMembers(members: ReadonlyMap<string, Pick<Member, 'bytes'>>): Buffer {
  const pieces: Buffer[] = [OPEN];
  for (const [name, { bytes }] of members) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(Buffer.from(`${JSON.stringify(name)}:`), bytes);
  }
  pieces.push(CLOSE);
  return Buffer.concat(pieces);
}
