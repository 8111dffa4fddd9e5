// The keys that a manager reaches, as conditions of queries.
import type { ManagerReach } from '../../domain/people/manager.js';
import type { Prisma } from '../generated/client.js';

/** Adds a parameter to a statement; returns its name. */
export type Add = (value: unknown) => string;

/** Conditions on `api_keys AS key`; none: the whole account is within reach. */
export function keysWithin({ workspaceIds, own }: ManagerReach, add: Add): readonly string[] {
  if (workspaceIds === null) return [];
  const ofWorkspaces = `key.workspace_id = ANY (${add(workspaceIds)}::uuid[])`;
  if (own === null) return [ofWorkspaces];
  const places =
    own.workspaceIds === null ? '' : ` AND key.workspace_id = ANY (${add(own.workspaceIds)}::uuid[])`;
  return [`(${ofWorkspaces} OR (key.creator_user_id = ${add(own.userId)}${places}))`];
}

/** The same for Prisma. */
export function keysWhere({ workspaceIds, own }: ManagerReach): Prisma.ApiKeyWhereInput {
  if (workspaceIds === null) return {};
  const ofWorkspaces = { workspaceId: { in: [...workspaceIds] } };
  if (own === null) return ofWorkspaces;
  const places = own.workspaceIds === null ? {} : { workspaceId: { in: [...own.workspaceIds] } };
  return { OR: [ofWorkspaces, { creatorUserId: own.userId, ...places }] };
}
