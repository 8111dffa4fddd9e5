// Shared by the specs of GET /keys/{hash}.
import type { Response } from 'supertest';
import type { TestApp } from '../app/app.js';

/** With the account's management key, another Authorization header, or (null) none. */
export async function getKey(
  app: TestApp,
  hash: string,
  authorization: string | null = `Bearer ${app.managementKey}`,
): Promise<Response> {
  const request = app.http.get(`/api/v1/keys/${hash}`);
  return authorization === null ? request : request.set('authorization', authorization);
}
