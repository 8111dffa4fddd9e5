// The session and the workspace of the page.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Session } from '../api/session';

const appRoute = getRouteApi('/app');

export function useSession(): Session {
  return appRoute.useRouteContext().session;
}

/** In the address: every workspace of the account. */
export const ALL_WORKSPACES = 'all';

/**
 * The id of the workspace that the page shows: from the address, else that of the session's key, also where all are chosen
 * and the page shows one.
 */
export function useWorkspaceId(): string {
  const session = useSession();
  return useWorkspaceScope() ?? session.workspace_id;
}

/** For pages that can show all workspaces. Null: they do. */
export function useWorkspaceScope(): string | null {
  const { workspace } = appRoute.useSearch();
  const session = useSession();
  return workspace === ALL_WORKSPACES ? null : (workspace ?? session.workspace_id);
}

/** The object of the page sets the workspace: the next page shows the neighbours of the object. */
export function useObjectWorkspace(workspaceId: string | undefined): void {
  const session = useSession();
  const navigate = useNavigate();
  const chosen = useWorkspaceScope();
  // Once: the reader may choose another workspace while the object is shown.
  const isSet = useRef(false);
  useEffect(() => {
    if (isSet.current) return;
    isSet.current = true;
    if (workspaceId === undefined || chosen === null || chosen === workspaceId) return;
    const workspace = workspaceId === session.workspace_id ? undefined : workspaceId;
    void navigate({ to: '.', search: (former) => ({ ...former, workspace }), replace: true });
  }, [chosen, workspaceId, session.workspace_id, navigate]);
}
