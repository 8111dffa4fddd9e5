// The guardrails that a manager reaches, as conditions of queries: own ones are those that govern the keys of a user.
import type { ManagerReach, OwnReach } from '../../domain/people/manager.js';
import type { Prisma } from '../generated/client.js';

export function guardrailsWhere({ workspaceIds, own }: ManagerReach): Prisma.GuardrailWhereInput {
  if (workspaceIds === null) return {};
  const ofWorkspaces = { workspaceId: { in: [...workspaceIds] } };
  if (own === null) return ofWorkspaces;
  const governs = [
    { isDefault: true },
    { assignments: { some: { userId: own.userId } } },
    { assignments: { some: { apiKey: { creatorUserId: own.userId, deletedAt: null } } } },
  ];
  return { OR: [ofWorkspaces, { ...placesOf(own), OR: governs }] };
}

/** Those to the user, and to his keys. */
export function assignmentsWhere({ workspaceIds, own }: ManagerReach): Prisma.GuardrailAssignmentWhereInput {
  if (workspaceIds === null) return {};
  const ofWorkspaces = { workspaceId: { in: [...workspaceIds] } };
  if (own === null) return ofWorkspaces;
  const ofUser = [{ userId: own.userId }, { apiKey: { creatorUserId: own.userId } }];
  return { OR: [ofWorkspaces, { ...placesOf(own), OR: ofUser }] };
}

function placesOf({ workspaceIds }: OwnReach) {
  return workspaceIds === null ? {} : { workspaceId: { in: [...workspaceIds] } };
}
