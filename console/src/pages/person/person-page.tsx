// The page for a person, or the reason why there is none.
import { Outlet, useLocation } from '@tanstack/react-router';
import type { Right } from '../../api/rights';
import { NAVIGATION } from '../../app/navigation';
import type { NavigationGroup } from '../../app/navigation';
import { isWaiting, useCan } from '../../app/rights';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { NoRightPage } from './no-right-page';
import { WaitingPage } from './waiting-page';

/** Lists of one workspace. An object may be that of another one than the address names: its page finds out. */
const LISTS_OF_ONE = /^\/(?:destinations|provider-keys|refusals|guardrails|audit|playground)$/;

/** Undefined: none. */
function rightOfPage(path: string): Right | undefined {
  const [, root = ''] = path.split('/');
  const groups: readonly NavigationGroup[] = NAVIGATION;
  return groups.flatMap(({ entries }) => entries).find(({ to }) => to === `/${root}`)?.right;
}

export function PersonPage() {
  const { pathname } = useLocation();
  const can = useCan();
  const workspaceId = useWorkspaceId();
  const right = rightOfPage(pathname);
  if (isWaiting(useSession())) return <WaitingPage />;
  if (right === undefined || can(right, LISTS_OF_ONE.test(pathname) ? workspaceId : undefined))
    return <Outlet />;
  return <NoRightPage right={right} />;
}
