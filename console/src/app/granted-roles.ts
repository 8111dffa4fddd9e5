// The roles that the session may give: a person gives roles up to the own one, and never changes the own.
import type { Session } from '../api/session';

/** The highest first. */
export const ACCOUNT_ROLES = ['owner', 'admin', 'developer', 'viewer'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

export function grantedRoles(session: Session): readonly AccountRole[] {
  if (session.kind !== 'person') return ACCOUNT_ROLES;
  const own = ACCOUNT_ROLES.findIndex((role) => role === session.account_role);
  return own < 0 ? [] : ACCOUNT_ROLES.slice(own);
}
