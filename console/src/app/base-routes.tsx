// The routes that the pages stand under.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { sessionQuery } from '../api/session';
import { textOf } from './search';
import { Shell } from './shell';

interface RouterContext {
  readonly queryClient: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({ component: Outlet });

/** Everything behind the sign-in. Its parameter, the workspace, stays in the address from page to page. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  validateSearch: (search): { workspace?: string } => ({ workspace: textOf(search['workspace']) }),
  search: { middlewares: [retainSearchParams(['workspace'])] },
  beforeLoad: async ({ context: { queryClient }, location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: '/sign-in', search: { from: location.publicHref } });
    return { session };
  },
  component: Shell,
});

/** Pages for management keys and people. A session of an inference key sees its own page instead. */
export const managementRoute = createRoute({
  getParentRoute: () => appRoute,
  id: 'management',
  beforeLoad: ({ context: { session } }) => {
    if (session.kind === 'inference') throw redirect({ to: '/my-key' });
  },
});
