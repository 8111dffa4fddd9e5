// Sets of public keys (RFC 7517), as a policy holds them and as issuers publish them.
import type { PublicKey, PublicKeySet } from './federation-policy.js';

/** Of one set. */
export const MAX_KEYS = 100;
// The modulus of the largest usual RSA key has 1,366 characters.
const MEMBER = /^[\x20-\x7e]{1,4096}$/;

const MEMBERS = ['kty', 'kid', 'alg', 'use', 'crv', 'n', 'e', 'x', 'y'] as const;
const KEY_TYPES = new Set(['RSA', 'EC', 'OKP']);
// Of private keys, and of keys that sign and verify alike.
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** The keys of a published set that can verify a token; null: it is no set of keys. Others are left out. */
export function readPublishedKeys(value: unknown): PublicKeySet | null {
  const keys = keysOf(value);
  if (keys === null || keys.length > MAX_KEYS) return null;
  const usable = keys.filter((key) => !hasPrivateMember(key)).map(toPublicKey);
  return { keys: usable.filter((key) => key !== null) };
}

/** The keys of a policy, or why it must not have them. */
export function readPolicyKeys(value: unknown): PublicKeySet | string {
  const keys = keysOf(value);
  if (keys === null) return 'must have a list of keys in `keys`';
  if (keys.length === 0 || keys.length > MAX_KEYS) return `must have 1 to ${MAX_KEYS} keys`;
  if (keys.some(hasPrivateMember)) return 'must have public keys only; remove the private members';
  const read = keys.map(toPublicKey);
  const known = read.filter((key) => key !== null);
  if (known.length < read.length) return 'must have keys of the types RSA, EC and OKP, each with a kid';
  if (new Set(known.map(({ kid }) => kid)).size < known.length) return 'must not repeat a kid';
  return { keys: known };
}

function keysOf(value: unknown): readonly object[] | null {
  const keys = (value as { readonly keys?: unknown } | null | undefined)?.keys;
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null) ? keys : null;
}

function hasPrivateMember(key: object): boolean {
  return PRIVATE_MEMBERS.some((member) => Object.hasOwn(key, member));
}

/** Null: no token that this service takes can be signed by it. */
function toPublicKey(key: object): PublicKey | null {
  const members = MEMBERS.map((name): [string, unknown] => [name, Reflect.get(key, name)]);
  const texts = members.filter((member): member is [string, string] => typeof member[1] === 'string');
  if (!texts.every(([, text]) => MEMBER.test(text))) return null;
  const read: PublicKey = Object.fromEntries(texts);
  const isKnown = KEY_TYPES.has(read['kty'] ?? '') && read['kid'] !== undefined;
  return isKnown ? read : null;
}
