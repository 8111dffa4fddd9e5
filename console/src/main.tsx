import { CSPProvider } from '@base-ui/react/csp-provider';
import { hashKey, QueryClientProvider } from '@tanstack/react-query';
import type { QueryCacheNotifyEvent, QueryState } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { sessionQuery } from './api/session';
import type { Session } from './api/session';
import { storeSessionKind } from './app/first-paint';
import { coverPage } from './app/page-hold';
import { createQueryClient } from './app/query-client';
import { renewSession } from './app/renewal';
import { createConsoleRouter } from './app/console-router';
import { setSessionEnded } from './app/session-end';
import { Toasts } from './components/feedback/toasts';
import './styles/tokens.css';
import './styles/base.css';

/** The sign-in over the page. */
function askForKey(): void {
  if (router.state.location.pathname !== '/sign-in') setSessionEnded(true);
}

/** For the next first paint of this browser. */
function keepSessionKind({ type, query }: QueryCacheNotifyEvent): void {
  if (type !== 'updated' || query.queryHash !== hashKey(sessionQuery.queryKey)) return;
  const { data, status } = query.state as QueryState<Session | null>;
  if (status === 'success') storeSessionKind(data?.kind ?? null);
}

/** The roles of a person may have changed since the session was read. */
async function readRightsAgain(): Promise<void> {
  if (queryClient.getQueryData(sessionQuery.queryKey)?.kind !== 'person') return;
  await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
  await router.invalidate();
}

const queryClient = createQueryClient(
  () => coverPage(askForKey),
  () => void readRightsAgain(),
);
queryClient.getQueryCache().subscribe(keepSessionKind);
const router = createConsoleRouter(queryClient);
router.subscribe('onBeforeNavigate', ({ fromLocation, toLocation, pathChanged }) => {
  if (fromLocation !== undefined && pathChanged)
    renewSession(queryClient.getQueryData(sessionQuery.queryKey), toLocation.publicHref);
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
// The frame of index.html stays until the first page is there.
void router.load().then(() =>
  createRoot(root).render(
    <StrictMode>
      {/* The policy of the pages allows no style elements. */}
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  ),
);
