// The session and the workspace of the page.
import { getRouteApi } from '@tanstack/react-router';
import type { Session } from '../api/session';

const appRoute = getRouteApi('/app');

export function useSession(): Session {
  return appRoute.useRouteContext().session;
}

/** The id of the workspace that the page shows: from the address, else that of the session's key. */
export function useWorkspaceId(): string {
  const { workspace } = appRoute.useSearch();
  const session = useSession();
  return workspace ?? session.workspace_id;
}
