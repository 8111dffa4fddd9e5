// Calls in the Responses wire, and what their clients read.
import type { TestApp } from '../app/app.js';
import { eventsOf } from '../messages/messages-app.js';
import type { ReadEvent } from '../messages/messages-app.js';

export type Item = Readonly<Record<string, unknown>> & { readonly type: string; readonly id: string };

export interface ReadResponse {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly output: readonly Item[];
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** A text body passes as it is. */
export function postResponses(
  app: TestApp,
  body: object | string,
  { headers = {}, key = app.apiKey, path = '/v1/responses', signal }: PostOptions = {},
): Promise<Response> {
  return fetch(`${app.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** The events of a stream, whose numbers have no gap. */
export async function responseEvents(response: Response): Promise<ReadEvent[]> {
  const events = await eventsOf(response);
  for (const [index, { event, data }] of events.entries())
    if (data.type !== event || data['sequence_number'] !== index)
      throw new Error(`event ${index} is ${event} ${JSON.stringify(data).slice(0, 200)}`);
  return events;
}

/** The last event has the whole response. */
export function responseOf(events: readonly ReadEvent[]): ReadResponse {
  return events.at(-1)?.data['response'] as ReadResponse;
}

/** Types without their common beginning, neighbours of one kind once. */
export function outlineOf(events: readonly ReadEvent[]): string[] {
  return events
    .map(({ event }) => event.replace(/^response\./, ''))
    .filter((event, index, all) => event !== all[index - 1]);
}
