import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { sessionQuery } from './api/session';
import { leavePage } from './app/page-hold';
import { createQueryClient } from './app/query-client';
import { createConsoleRouter } from './app/router';
import { applyTheme, readTheme } from './app/theme';
import { Toasts } from './components/feedback/toasts';
import './styles/tokens.css';
import './styles/base.css';

applyTheme(readTheme());

/** To the sign-in page, which leads back to this one. */
function returnToSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname === '/sign-in') return;
  queryClient.setQueryData(sessionQuery.queryKey, null);
  void router.navigate({ to: '/sign-in', search: { from: href } });
}

const queryClient = createQueryClient(() => leavePage(returnToSignIn));
const router = createConsoleRouter(queryClient);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
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
);
