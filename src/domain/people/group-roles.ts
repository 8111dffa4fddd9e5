// The roles that a person has by the groups of the identity provider.
import { ACCOUNT_ROLES, highestRole, WORKSPACE_ROLES } from './person.js';
import type { AccountRole, WorkspaceRole } from './person.js';

interface MappedGroup {
  readonly issuer: string;
  /** Compared byte by byte. */
  readonly group: string;
}

interface AccountMapping extends MappedGroup {
  readonly workspaceId: null;
  readonly role: AccountRole;
}

interface WorkspaceMapping extends MappedGroup {
  readonly workspaceId: string;
  readonly role: WorkspaceRole;
}

export type NewGroupMapping = AccountMapping | WorkspaceMapping;

export type GroupMapping = NewGroupMapping & {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
};

export interface GroupRoles {
  readonly accountRole: AccountRole | null;
  readonly workspaceRoles: ReadonlyMap<string, WorkspaceRole>;
}

export interface GroupRules {
  /** Those of the person's issuer. */
  readonly mappings: readonly NewGroupMapping[];
  /** Groups whose members are owners, by the operator's configuration. */
  readonly ownerGroups: readonly string[];
  /** For persons without a role by groups. */
  readonly defaultRole: AccountRole | null;
}

/** Of several groups the highest role counts. */
export function rolesByGroups(groups: readonly string[], rules: GroupRules): GroupRoles {
  const held = new Set(groups);
  const accountRoles: AccountRole[] = rules.ownerGroups.some((group) => held.has(group)) ? ['owner'] : [];
  const workspaceRoles = new Map<string, WorkspaceRole>();
  for (const { group, workspaceId, role } of rules.mappings.filter((mapping) => held.has(mapping.group))) {
    if (workspaceId === null) accountRoles.push(role);
    else {
      const higher = highestRole(WORKSPACE_ROLES, [role, workspaceRoles.get(workspaceId) ?? null]);
      if (higher !== null) workspaceRoles.set(workspaceId, higher);
    }
  }
  const hasRole = accountRoles.length > 0 || workspaceRoles.size > 0;
  return {
    accountRole: hasRole ? highestRole(ACCOUNT_ROLES, accountRoles) : rules.defaultRole,
    workspaceRoles,
  };
}
