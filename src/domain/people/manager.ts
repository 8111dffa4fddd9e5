// The manager of an account, by the API or the console: a key, or a person.
import type { ApiKey } from '../keys/api-key.js';
import { labelOfPerson } from './person.js';
import type { Person } from './person.js';

/** The objects of an account that a request reaches, by the right of its route. */
export interface ManagerReach {
  /** Everything in these workspaces; null: the whole account. */
  readonly workspaceIds: readonly string[] | null;
  /** Beside them the keys that the user has created, and their calls; null: no others. */
  readonly own: OwnReach | null;
}

export interface OwnReach {
  readonly userId: string;
  /** Null: in every workspace of the account. */
  readonly workspaceIds: readonly string[] | null;
}

/** The part of an account in which a request names objects. */
export interface Scope {
  readonly accountId: string;
  readonly reach: ManagerReach;
}

export interface KeyManager extends Scope {
  readonly key: ApiKey;
  readonly person: null;
}

export interface PersonManager extends Scope {
  readonly key: null;
  readonly person: Person;
}

export type Manager = KeyManager | PersonManager;

const WHOLE: ManagerReach = { workspaceIds: null, own: null };

export function wholeAccount(accountId: string): Scope {
  return { accountId, reach: WHOLE };
}

/** A management key is the account. An inference key reaches what its routes allow. */
export function managerByKey(key: ApiKey): KeyManager {
  return { accountId: key.accountId, key, person: null, reach: WHOLE };
}

export function managerByPerson(person: Person, reach: ManagerReach): PersonManager {
  return { accountId: person.accountId, key: null, person, reach };
}

/** The key that reaches only its own calls; null: a management key or a person. */
export function inferenceKeyOf({ key }: Manager): ApiKey | null {
  return key?.kind === 'inference' ? key : null;
}

/** As the audit log and the catalogue's history name the author of a change. */
export function labelOfManager({ key, person }: Manager): string {
  return key === null ? labelOfPerson(person) : key.label;
}

/** The user behind it: the person, or the creator of the key. */
export function userOfManager({ key, person }: Manager): string | null {
  return key === null ? person.id : key.creatorUserId;
}

export function reachesWorkspace({ workspaceIds }: ManagerReach, workspaceId: string): boolean {
  return workspaceIds === null || workspaceIds.includes(workspaceId);
}

/** The workspaces with anything in reach; null: those of the whole account. */
export function workspacesInReach({ workspaceIds, own }: ManagerReach): readonly string[] | null {
  if (workspaceIds === null || own?.workspaceIds === null) return null;
  return [...new Set([...workspaceIds, ...(own?.workspaceIds ?? [])])];
}

/** The user whose keys alone are within reach in the workspace; null: all of them are, or none. */
export function ownerIn(reach: ManagerReach, workspaceId: string): string | null {
  const { own } = reach;
  if (own === null || reachesWorkspace(reach, workspaceId)) return null;
  return own.workspaceIds === null || own.workspaceIds.includes(workspaceId) ? own.userId : null;
}

/** Whether a key, or a call of it, is within reach. */
export function reachesKey(
  reach: ManagerReach,
  { workspaceId, creatorUserId }: Pick<ApiKey, 'workspaceId' | 'creatorUserId'>,
): boolean {
  if (reachesWorkspace(reach, workspaceId)) return true;
  return creatorUserId !== null && ownerIn(reach, workspaceId) === creatorUserId;
}
