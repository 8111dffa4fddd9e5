// A browser with the console open: its cookie, and the headers that it and its pages set.
import type { Response } from 'supertest';
import type { TestApp } from './app.js';

export const FROM_PAGE = { 'sec-fetch-site': 'same-origin' };
/** The headers of the console's pages for every request but GET. */
export const CHANGE = { ...FROM_PAGE, 'x-signalbox-console': '1' };

export async function signIn(app: TestApp, key: string, headers: object = FROM_PAGE): Promise<Response> {
  return app.http
    .post('/console/session')
    .set({ ...headers })
    .send({ key });
}

/** The `Cookie` header of a browser that has signed in. */
export async function cookieOf(app: TestApp, key: string): Promise<string> {
  const response = await signIn(app, key);
  if (response.status !== 200) throw new Error(`sign-in: ${response.status} ${response.text}`);
  return setCookies(response)[0]?.split(';')[0] ?? '';
}

/** The cookie with an id of this character, which no session has. */
export function withId(cookie: string, character: string): string {
  return cookie.replace(/=.*/, `=${character.repeat(43)}`);
}

export function setCookies(response: Response): readonly string[] {
  return (response.headers['set-cookie'] ?? []) as unknown as readonly string[];
}

export async function whoAmI(app: TestApp, cookie: string): Promise<Response> {
  return app.http.get('/console/session').set({ ...FROM_PAGE, cookie });
}
