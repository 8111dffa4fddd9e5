// The session of the browser: sign in with a key, see whose session it is, sign out.
import { queryOptions } from '@tanstack/react-query';
import { SESSION_PATH, takeFirstSession } from '../app/first-paint';
import { ApiError, sendConsole } from './client';

export interface Session {
  readonly kind: 'management' | 'inference';
  readonly key_hash: string;
  readonly key_name: string;
  readonly key_label: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  /** Whether the key may change the catalogue. */
  readonly can_change_catalogue: boolean;
  readonly created_at: string;
  readonly expires_at: string;
}

/** Null: no session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    const sent = await takeFirstSession()?.catch(() => undefined);
    if (sent?.ok === true) return ((await sent.json()) as { data: Session }).data;
    try {
      return (await sendConsole<{ data: Session }>('GET', SESSION_PATH)).data;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: Infinity,
});

export async function signIn(key: string): Promise<Session> {
  return (await sendConsole<{ data: Session }>('POST', SESSION_PATH, { key })).data;
}

export async function signOut(): Promise<void> {
  await sendConsole('DELETE', SESSION_PATH);
}
