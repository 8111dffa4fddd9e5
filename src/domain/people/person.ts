// People: they sign in to the console by an identity provider (docs/contract.md#people).
import { randomBytes } from 'node:crypto';

const DAY = 86_400_000;

/** Roles for the whole account, the highest first. */
export const ACCOUNT_ROLES = ['owner', 'admin', 'developer', 'viewer'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Roles in one workspace, the highest first. A member is a developer there. */
export const WORKSPACE_ROLES = ['admin', 'member', 'viewer'] as const;
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

/** Why a person has a role: it was given by hand, or by a group of the identity provider. */
export interface RoleSources<Role> {
  readonly byHand: Role | null;
  readonly byGroup: Role | null;
}

export interface Person {
  /** `usr_` and 32 hexadecimal digits: the user id in members, keys and records. */
  readonly id: string;
  readonly accountId: string;
  readonly issuer: string;
  /** For display; it never identifies the person. */
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** Null: none. */
  readonly accountRole: AccountRole | null;
  readonly accountRoleSources: RoleSources<AccountRole>;
  /** By the id of the workspace. */
  readonly workspaceRoles: ReadonlyMap<string, WorkspaceRole>;
  readonly workspaceRoleSources: ReadonlyMap<string, RoleSources<WorkspaceRole>>;
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
  /** The keys that the person has created stop at this time; null: at none. */
  readonly keysValidUntil: Date | null;
  /** The names of the claims of the last sign-in. */
  readonly claimNames: readonly string[];
}

export const PERSON_ID = /^usr_[0-9a-f]{32}$/;

export function createPersonId(): string {
  return `usr_${randomBytes(16).toString('hex')}`;
}

/** The e-mail address, else the name, else the id. */
export function labelOfPerson({ id, email, firstName, lastName }: Person): string {
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return email ?? (name === '' ? id : name);
}

/** When the keys end that the person has made for himself; null: not yet known. */
export function endOfKeys({
  disabledAt,
  keysValidUntil,
}: Pick<Person, 'disabledAt' | 'keysValidUntil'>): Date | null {
  if (disabledAt === null || keysValidUntil === null) return disabledAt ?? keysValidUntil;
  return disabledAt < keysValidUntil ? disabledAt : keysValidUntil;
}

/** The highest of them in the order of `roles`; null: none is given. */
export function highestRole<Role extends string>(
  roles: readonly Role[],
  given: readonly (Role | null)[],
): Role | null {
  return roles.find((role) => given.includes(role)) ?? null;
}

/** Null: it is none of `roles`. */
export function readRole<Role extends string>(roles: readonly Role[], text: string | null): Role | null {
  return roles.find((role) => role === text) ?? null;
}

/** Without one the person waits. */
export function hasRole({
  accountRole,
  workspaceRoles,
}: Pick<Person, 'accountRole' | 'workspaceRoles'>): boolean {
  return accountRole !== null || workspaceRoles.size > 0;
}

/** The end of the keys of a person who does not sign in again. */
export function endOfGrace(signedInAt: Date, graceDays: number): Date {
  return new Date(signedInAt.getTime() + graceDays * DAY);
}
