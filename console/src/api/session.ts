// The session of the browser: sign in with a key or as a person, see whose session it is, sign out.
import { queryOptions } from '@tanstack/react-query';
import { SESSION_PATH, takeFirstSession } from '../app/first-paint';
import { ApiError, askConsole, sendConsole } from './client';
import type { Right } from './rights';

interface AnySession {
  readonly account_id: string;
  readonly account_name: string;
  /** Of a person the first one that the roles reach. Null for a person without a role, who sees no page that needs it. */
  readonly workspace_id: string;
  readonly workspace_name: string;
  /** Whether the key or the person may change the catalogue. */
  readonly can_change_catalogue: boolean;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface KeySession extends AnySession {
  readonly kind: 'management' | 'inference';
  readonly key_hash: string;
  readonly key_name: string;
  readonly key_label: string;
}

interface Reach {
  /** Null: the whole account. */
  readonly workspace_ids: readonly string[] | null;
  /** Beside them what belongs to the keys that the person has made; null: no others. */
  readonly own: { readonly workspace_ids: readonly string[] | null } | null;
}

export interface PersonSession extends AnySession {
  readonly kind: 'person';
  readonly person: {
    readonly id: string;
    readonly email: string | null;
    readonly first_name: string | null;
    readonly last_name: string | null;
  };
  readonly account_role: string | null;
  readonly workspaces: readonly { readonly workspace_id: string; readonly role: string }[];
  /** Empty: the person waits for a role. */
  readonly rights: Readonly<Partial<Record<Right, Reach>>>;
  /** The provider that renews the session; null: it is configured no longer. */
  readonly provider_id: string | null;
  readonly renew_at: string;
  /** The same by the clock of the browser. */
  readonly renewsAt: number;
}

export type Session = KeySession | PersonSession;

/** The clock of the browser may be wrong: the answer states the time of the service. */
function readSession({ data }: { readonly data: Session }, headers: Headers): Session {
  if (data.kind !== 'person') return data;
  const now = Date.now();
  const skew = now - (Date.parse(headers.get('date') ?? '') || now);
  return { ...data, renewsAt: Date.parse(data.renew_at) + skew };
}

/** Null: no session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    const sent = await takeFirstSession()?.catch(() => undefined);
    if (sent?.ok === true) return readSession((await sent.json()) as { data: Session }, sent.headers);
    try {
      const { body, headers } = await askConsole<{ data: Session }>('GET', SESSION_PATH);
      return readSession(body, headers);
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

/** Of the answer to a sign-out, for the page that follows it. */
export const END_SESSION = ['end-session'] as const;

/** The address at the provider that ends the session there as well; null: there is none. */
export async function signOut(): Promise<string | null> {
  const body = await sendConsole<{ readonly end_session_url?: string | null }>('DELETE', SESSION_PATH);
  return body.end_session_url ?? null;
}
