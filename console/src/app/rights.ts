// Whether the session may do something. Sessions of management keys have every right, those of other keys none.
import type { Right } from '../api/rights';
import type { Session } from '../api/session';
import { useSession } from './workspace';

/**
 * `workspaceId` absent: in any workspace; null: in the whole account. `creatorId` is the user who has created the key in
 * question; absent: any key, be it an own one alone.
 */
export type Can = (right: Right, workspaceId?: string | null, creatorId?: string | null) => boolean;

export const rightsOf =
  (session: Session): Can =>
  (right, workspaceId, creatorId) => {
    if (session.kind !== 'person') return session.kind === 'management';
    const reach = session.rights[right];
    const covers = (ids: readonly string[] | null): boolean =>
      ids === null || (workspaceId === undefined ? ids.length > 0 : ids.includes(workspaceId ?? ''));
    if (reach === undefined || covers(reach.workspace_ids)) return reach !== undefined;
    const { own } = reach;
    const isOwn = creatorId === undefined || creatorId === session.person.id;
    return own !== null && isOwn && covers(own.workspace_ids);
  };

export const useCan = (): Can => rightsOf(useSession());

/** A person without any role. */
export const isWaiting = (session: Session): boolean =>
  session.kind === 'person' && Object.keys(session.rights).length === 0;
