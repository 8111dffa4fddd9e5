// The claims of an identity provider that the service reads. They come from outside: each is checked for its type and bound.
import { isArray, isObject } from '../members.js';
import { isStorableText } from '../text/storable-text.js';

export type Claims = Readonly<Record<string, unknown>>;

/** `missing`: no claim has the name. `overage`: the provider left the groups out because there are too many. */
export type GroupsClaim =
  | { readonly state: 'known'; readonly groups: readonly string[] }
  | { readonly state: 'missing' }
  | { readonly state: 'overage' };

/** A person as the provider states it. */
export interface Identity {
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly groups: GroupsClaim;
  readonly claimNames: readonly string[];
}

const MAX_SUBJECT = 255;
const MAX_EMAIL = 320;
const MAX_NAME = 200;
/** Longer names match no mapping. */
export const MAX_GROUP_NAME = 400;
const MAX_GROUPS = 10_000;
const MAX_CLAIM_NAMES = 100;
const MAX_CLAIM_NAME = 100;

/** Null: the subject cannot be stored. Members of `idToken` count before those of `userInfo`. */
export function readIdentity(
  idToken: Claims,
  userInfo: Claims | null,
  groupsClaim: readonly string[],
): Identity | null {
  const claims: Claims = { ...userInfo, ...idToken };
  const subject = textOf(idToken['sub'], MAX_SUBJECT);
  if (subject === null) return null;
  const email = textOf(claims['email'], MAX_EMAIL);
  // Both of one source: the address of one says nothing about that of another.
  const ofEmail = textOf(idToken['email'], MAX_EMAIL) === null ? userInfo : idToken;
  return {
    subject,
    email,
    isEmailVerified: email !== null && ofEmail?.['email_verified'] === true,
    firstName: textOf(claims['given_name'], MAX_NAME) ?? textOf(claims['name'], MAX_NAME),
    lastName: textOf(claims['family_name'], MAX_NAME),
    groups: groupsOf(idToken, userInfo, groupsClaim),
    claimNames: claimNamesOf(claims),
  };
}

function groupsOf(idToken: Claims, userInfo: Claims | null, groupsClaim: readonly string[]): GroupsClaim {
  const first = readGroups(idToken, groupsClaim);
  return first.state === 'missing' && userInfo !== null ? readGroups(userInfo, groupsClaim) : first;
}

/** The claim with the whole name, dots and all, counts before the one that its parts lead to. */
export function readGroups(claims: Claims, path: readonly string[]): GroupsClaim {
  const name = path.join('.');
  if (hasOverage(claims, [name, path[0] ?? name])) return { state: 'overage' };
  const value = Object.hasOwn(claims, name) ? claims[name] : descend(claims, path);
  // Some providers write a single group as a text.
  const groups = typeof value === 'string' ? [value] : value;
  if (!isArray(groups) || groups.length > MAX_GROUPS || !groups.every(isText)) return { state: 'missing' };
  return {
    state: 'known',
    groups: groups.filter((group) => group.length <= MAX_GROUP_NAME && isStorableText(group)),
  };
}

/** Entra leaves out the groups of a person who has many, and names another address for them. */
function hasOverage(claims: Claims, names: readonly string[]): boolean {
  const { _claim_names: elsewhere, hasgroups } = claims;
  if (isObject(elsewhere) && names.some((name) => Object.hasOwn(elsewhere, name))) return true;
  return hasgroups === true || hasgroups === 'true';
}

function descend(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const member of path) {
    if (!isObject(value) || !Object.hasOwn(value, member)) return undefined;
    value = value[member];
  }
  return value;
}

/** Names without values, for the page that shows how sign-in is configured. */
function claimNamesOf(claims: Claims): readonly string[] {
  const names = Object.keys(claims).filter((name) => name.length <= MAX_CLAIM_NAME && isStorableText(name));
  return names.toSorted().slice(0, MAX_CLAIM_NAMES);
}

/** Whether the provider vouches for an address in one of the domains; without domains any person may sign in. */
export function isInDomains(
  { email, isEmailVerified }: Pick<Identity, 'email' | 'isEmailVerified'>,
  domains: readonly string[],
): boolean {
  if (domains.length === 0) return true;
  if (email === null || !isEmailVerified) return false;
  return domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Null: no such text, or one that cannot be stored. */
function textOf(value: unknown, maxLength: number): string | null {
  const isValid =
    typeof value === 'string' && value !== '' && value.length <= maxLength && isStorableText(value);
  return isValid ? value : null;
}
