// The rights of people: the one table of rights by role (docs/contract.md#roles). A route states its right; the guard
// of roles reads this table, the documentation prints it, and test/security/every-role proves it.
import { AppError } from '../errors.js';
import { reachesWorkspace } from './manager.js';
import type { Manager, ManagerReach } from './manager.js';
import type { AccountRole, Person, WorkspaceRole } from './person.js';

/**
 * `all`: in the workspaces of the role. `own`: only keys that the person has created, and their calls. `account`: only
 * by a role for the whole account. Absent: not at all.
 */
type Grant = 'all' | 'own' | 'account';

/** The columns of the table: the workspace's roles, and those of the account. */
export const ROLE_COLUMNS = ['viewer', 'developer', 'workspace_admin', 'admin', 'owner'] as const;
export type RoleColumn = (typeof ROLE_COLUMNS)[number];

type Row = readonly [
  viewer: Grant | null,
  developer: Grant | null,
  workspaceAdmin: Grant | null,
  admin: 'all' | null,
  owner: 'all',
];

export const RIGHTS = {
  'account.read': ['all', 'all', 'all', 'all', 'all'],
  'playground.use': [null, 'own', 'all', 'all', 'all'],
  'keys.read': ['all', 'own', 'all', 'all', 'all'],
  'keys.change': [null, 'own', 'all', 'all', 'all'],
  'management_keys.change': [null, null, null, null, 'all'],
  'calls.read': ['all', 'own', 'all', 'all', 'all'],
  'calls.read_content': [null, 'own', 'all', 'all', 'all'],
  'destinations.read': ['all', null, 'all', 'all', 'all'],
  'destinations.change': [null, null, 'all', 'all', 'all'],
  'provider_keys.read': ['all', null, 'all', 'all', 'all'],
  'provider_keys.change': [null, null, 'all', 'all', 'all'],
  'providers.test': [null, null, 'all', 'all', 'all'],
  'workspaces.read': ['all', 'all', 'all', 'all', 'all'],
  'workspaces.change': [null, null, 'all', 'all', 'all'],
  'workspaces.create': [null, null, null, 'all', 'all'],
  'budgets.change': [null, null, null, 'all', 'all'],
  'members.read': ['all', 'all', 'all', 'all', 'all'],
  'members.change': [null, null, 'all', 'all', 'all'],
  'credits.read': ['account', null, null, 'all', 'all'],
  'notifications.read': ['all', null, 'all', 'all', 'all'],
  'notifications.change': [null, null, 'all', 'all', 'all'],
  'audit.read': [null, null, 'all', 'all', 'all'],
  'system.read': [null, null, null, 'all', 'all'],
  'presets.read': ['all', 'all', 'all', 'all', 'all'],
  'presets.change': [null, null, 'all', 'all', 'all'],
  'guardrails.read': ['all', 'own', 'all', 'all', 'all'],
  // Matches and assignments of all keys.
  'guardrails.read_usage': ['all', null, 'all', 'all', 'all'],
  'guardrails.change': [null, null, 'all', 'all', 'all'],
  'default_guardrail.change': [null, null, null, 'all', 'all'],
  'catalogue.read': ['all', 'all', 'all', 'all', 'all'],
  'catalogue.change': [null, null, null, 'all', 'all'],
  'own_key_policy.read': ['all', 'all', 'all', 'all', 'all'],
  'own_key_policy.change': [null, null, 'all', 'all', 'all'],
  'people.read': [null, null, null, 'all', 'all'],
  'people.change': [null, null, null, 'all', 'all'],
  'federation.read': [null, null, null, 'all', 'all'],
  'federation.change': [null, null, null, 'all', 'all'],
} as const satisfies Readonly<Record<string, Row>>;

export type Right = keyof typeof RIGHTS;

const OF_ACCOUNT: Readonly<Record<AccountRole, RoleColumn>> = {
  viewer: 'viewer',
  developer: 'developer',
  admin: 'admin',
  owner: 'owner',
};
const OF_WORKSPACE: Readonly<Record<WorkspaceRole, RoleColumn>> = {
  viewer: 'viewer',
  member: 'developer',
  admin: 'workspace_admin',
};

export function grantOf(right: Right, column: RoleColumn): Grant | null {
  const row: Row = RIGHTS[right];
  return row[ROLE_COLUMNS.indexOf(column)] ?? null;
}

/** The objects that the person reaches by the right; null: none, the operation is refused. */
export function reachOf(
  { id, accountRole, workspaceRoles }: Pick<Person, 'id' | 'accountRole' | 'workspaceRoles'>,
  right: Right,
): ManagerReach | null {
  const ofAccount = accountRole === null ? null : grantOf(right, OF_ACCOUNT[accountRole]);
  if (ofAccount === 'all' || ofAccount === 'account') return { workspaceIds: null, own: null };
  const granted = (grant: Grant): readonly string[] =>
    [...workspaceRoles]
      .filter(([, role]) => grantOf(right, OF_WORKSPACE[role]) === grant)
      .map(([workspaceId]) => workspaceId);
  const workspaceIds = granted('all');
  const own = ofAccount === 'own' ? null : granted('own');
  if (workspaceIds.length === 0 && own?.length === 0) return null;
  const hasOwn = own === null || own.length > 0;
  return { workspaceIds, own: hasOwn ? { userId: id, workspaceIds: own } : null };
}

/**
 * A further right, beside that of the route, for an object of a workspace; null: of the account. Keys that passed the guard
 * have every right.
 */
export function hasRight({ person }: Manager, right: Right, workspaceId: string | null): boolean {
  if (person === null) return true;
  const reach = reachOf(person, right);
  if (reach === null) return false;
  return workspaceId === null ? reach.workspaceIds === null : reachesWorkspace(reach, workspaceId);
}

/** Throws `role_refused` without it. */
export function requireRight(manager: Manager, right: Right, workspaceId: string | null): void {
  if (!hasRight(manager, right, workspaceId)) throw roleRefused(right);
}

export function roleRefused(right: Right): AppError {
  return new AppError('role_refused', { detail: `it needs the role ${lowestRoleWith(right)}` });
}

/** The lowest role that has the right, for the words of a refusal. */
export function lowestRoleWith(right: Right): RoleColumn {
  return ROLE_COLUMNS.find((column) => grantOf(right, column) !== null) ?? 'owner';
}
