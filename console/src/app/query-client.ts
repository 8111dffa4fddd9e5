// Loading of data: what is retried, and what a 401 in the middle of the work does.
import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, NetworkError } from '../api/client';

const RETRIES = 2;

function isTemporary(error: Error): boolean {
  return error instanceof NetworkError || (error instanceof ApiError && error.status === 503);
}

/** An answer says that there is no session any more, or that it may not do what the page offered. */
export function createQueryClient(onSignedOut: () => void, onForbidden: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (!(error instanceof ApiError)) return;
    if (error.status === 401) onSignedOut();
    if (error.status === 403) onForbidden();
  };
  // A page knows that its request runs before the next event: a second click, or Escape, meets the busy form.
  notifyManager.setScheduler(queueMicrotask);
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, mutation) => {
        if (!mutation.meta?.['isSignIn']) onError(error);
      },
    }),
    defaultOptions: {
      queries: {
        // The browser's own notion of being online says nothing about the service.
        networkMode: 'always',
        staleTime: 10_000,
        retry: (failures, error) => failures < RETRIES && isTemporary(error),
      },
      mutations: { networkMode: 'always' },
    },
  });
}
