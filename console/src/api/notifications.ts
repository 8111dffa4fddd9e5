// Budget alerts: rules that watch limits, and the events that they sent.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { Schemas } from './client';
import type { ConnectionTest } from './destinations';

export type Notification = Omit<Schemas['NotificationDto'], 'config'> & {
  readonly config: { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
};
export type NotificationEvent = Schemas['NotificationEventDto'];
export type NewNotification = Schemas['CreateNotificationDto'];
export type NotificationChange = Schemas['UpdateNotificationDto'];
export type Cover = Notification['covers'][number];

export const NOTIFICATIONS = ['notifications'] as const;
// An account has at most 20.
const ALL = 100;
const EVENTS_PAGE = 50;
const WATCH_MS = 10_000;

/** Those of the whole account, newest first. */
export const notificationsQuery = queryOptions({
  queryKey: [...NOTIFICATIONS, 'list'],
  queryFn: async ({ signal }): Promise<readonly Notification[]> =>
    (await call(api.GET('/api/v1/notifications', { params: { query: { limit: ALL } }, signal }))).data,
});

const at = (id: string) => ({ path: { id } });

export const notificationQuery = (id: string) =>
  queryOptions({
    queryKey: [...NOTIFICATIONS, id],
    queryFn: async ({ signal }): Promise<Notification> =>
      (await call(api.GET('/api/v1/notifications/{id}', { params: at(id), signal }))).data,
  });

export async function loadEvents(
  id: string,
  state: NotificationEvent['state'] | undefined,
  after: string | undefined,
  signal: AbortSignal,
  limit = EVENTS_PAGE,
): Promise<CursorPage<NotificationEvent>> {
  const query = { limit, state, after };
  const { data, next } = await call(
    api.GET('/api/v1/notifications/{id}/events', { params: { ...at(id), query }, signal }),
  );
  return { data, next_cursor: next };
}

/** The newest event that the receiver did not take; null: there is none. */
export const lastDeadLetterQuery = (id: string) =>
  queryOptions({
    queryKey: [...NOTIFICATIONS, id, 'last-dead-letter'],
    queryFn: async ({ signal }): Promise<NotificationEvent | null> => {
      const { data } = await loadEvents(id, 'dead_letter', undefined, signal, 1);
      return data[0] ?? null;
    },
    refetchInterval: WATCH_MS,
  });

export const notificationSecretQuery = (id: string) =>
  queryOptions({
    queryKey: [...NOTIFICATIONS, id, 'signing-secret'],
    queryFn: async ({ signal }): Promise<string> =>
      (await call(api.GET('/api/v1/notifications/{id}/signing-secret', { params: at(id), signal }))).data
        .secret,
    gcTime: 0,
  });

export async function createNotification(body: NewNotification): Promise<Notification> {
  return (await call(api.POST('/api/v1/notifications', { body }))).data;
}

export async function updateNotification(id: string, body: NotificationChange): Promise<Notification> {
  return (await call(api.PATCH('/api/v1/notifications/{id}', { params: at(id), body }))).data;
}

export async function deleteNotification(id: string): Promise<void> {
  await call(api.DELETE('/api/v1/notifications/{id}', { params: at(id) }));
}

export async function testNotification(id: string): Promise<ConnectionTest> {
  return (await call(api.POST('/api/v1/notifications/{id}/test', { params: at(id) }))).data;
}

/** The number of events that are sent again. */
export async function replayNotification(id: string): Promise<number> {
  return (await call(api.POST('/api/v1/notifications/{id}/replay', { params: at(id) }))).data.dead_letters;
}
