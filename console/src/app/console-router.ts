// The router of the pages: their addresses, and what stands in for a page that loads or fails.
import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { BASE_PATH } from '../base-path';
import { Placeholder } from '../components/feedback/states';
import { PageError } from './page-error';
import { routeTree } from './router';
import { parseSearch, stringifySearch } from './search';

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: BASE_PATH,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingComponent: Placeholder,
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
