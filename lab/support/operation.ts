// Calls of the management API.
import { request } from 'undici';
import type { Dispatcher } from 'undici';

export interface Operation {
  readonly method: string;
  readonly url: string;
  readonly key: string;
  readonly body?: object | undefined;
  readonly dispatcher: Dispatcher;
  readonly signal?: AbortSignal;
}

/** Throws for anything but 2xx. */
export async function callOperation({ method, url, key, body, ...options }: Operation): Promise<unknown> {
  const answer = await request(url, {
    method: method as 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    ...options,
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300)
    throw new Error(`${method} ${new URL(url).pathname}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as unknown;
}
