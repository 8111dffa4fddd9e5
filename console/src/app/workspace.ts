// The session and the workspace of the page.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
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

/** The object of the page sets the workspace: the next page shows the neighbours of the object. */
export function useObjectWorkspace(workspaceId: string | undefined): void {
  const session = useSession();
  const navigate = useNavigate();
  const chosen = useWorkspaceId();
  // Once: the reader may choose another workspace while the object is shown.
  const isSet = useRef(false);
  useEffect(() => {
    if (isSet.current) return;
    isSet.current = true;
    if (workspaceId === undefined || chosen === workspaceId) return;
    const workspace = workspaceId === session.workspace_id ? undefined : workspaceId;
    void navigate({ to: '.', search: (former) => ({ ...former, workspace }), replace: true });
  }, [chosen, workspaceId, session.workspace_id, navigate]);
}
