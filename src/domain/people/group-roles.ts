// The roles that a person has by the groups of the identity provider.
import { ACCOUNT_ROLES, highestRole, readRole, WORKSPACE_ROLES } from './person.js';
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

/** Of one account. */
export const MAX_GROUP_MAPPINGS = 500;

interface MappingParts extends MappedGroup {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string | null;
  readonly role: string;
  readonly createdAt: Date;
}

/** Throws for a role that is none of its place. */
export function toGroupMapping({ id, accountId, createdAt, ...parts }: MappingParts): GroupMapping {
  const mapping = toNewGroupMapping(parts);
  if (mapping === null) throw new Error(`unknown role of a group: ${parts.role}`);
  return { ...mapping, id, accountId, createdAt };
}

/** Null: the place has no such role. */
export function toNewGroupMapping({
  issuer,
  group,
  workspaceId,
  role,
}: Omit<MappingParts, 'id' | 'accountId' | 'createdAt'>): NewGroupMapping | null {
  if (workspaceId === null) {
    const found = readRole(ACCOUNT_ROLES, role);
    return found && { issuer, group, workspaceId, role: found };
  }
  const found = readRole(WORKSPACE_ROLES, role);
  return found && { issuer, group, workspaceId, role: found };
}

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
  for (const { workspaceId, role } of rules.mappings.filter((mapping) => held.has(mapping.group))) {
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
