// The checks of a body that the wires of clients share.
import { rejectInvalidCall } from '../../http/dto/call-fields.js';
import type { SentCall } from '../../http/dto/call-fields.js';
import { rejectHostileShape } from '../../http/fields/json-shape.js';
import { MAX_USER_LENGTH } from '../dto/create-chat-completion.dto.js';
import { readRawMembers, rejectCaseTwins } from './raw-members.js';

type Body = Readonly<Record<string, unknown>>;

/** Limits of the structure of a body, at any depth. */
export const CHAT_BODY = { depth: 128, members: 1_024 } as const;
const SHAPE = { ...CHAT_BODY, elements: 2 ** 18, values: 2 ** 19, allowsAnyName: true };

/** The members of `bytes`, byte for byte. Null is absent (docs/contract.md#conventions). Throws `invalid_request`. */
export function checkedMembers(
  body: Body,
  bytes: Buffer,
  known: ReadonlyMap<string, string>,
): Map<string, Buffer> {
  const members = readRawMembers(bytes);
  rejectCaseTwins(members.keys(), known);
  rejectHostileShape(body, [], SHAPE);
  for (const [name, value] of Object.entries(body)) if (value === null) members.delete(name);
  return members;
}

/** Fills `dto` with the members of these names. Throws `invalid_request`. */
export function filledDto<Dto extends SentCall>(dto: Dto, names: readonly string[], body: Body): Dto {
  for (const name of names) {
    const value = body[name];
    if (value !== undefined && value !== null) Object.assign(dto, { [name]: value });
  }
  rejectInvalidCall(dto, MAX_USER_LENGTH);
  return dto;
}
