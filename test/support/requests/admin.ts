// Requests of an account's management key, for the specs of its routes.
import type { Response } from 'supertest';
import type { TestApp } from '../app/app.js';

interface AdminRequest {
  readonly body?: object;
  /** Another credential than the account's management key. */
  readonly key?: string;
}

/** `path` begins behind the version prefix. */
export async function ask(
  app: TestApp,
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  { body, key = app.managementKey }: AdminRequest = {},
): Promise<Response> {
  const request = app.http[method](`/api/v1${path}`).set('authorization', `Bearer ${key}`);
  return body === undefined ? request : request.send(body);
}

/** The body of an answer that must be of this status. */
export async function askFor<Body>(status: number, ...question: Parameters<typeof ask>): Promise<Body> {
  const response = await ask(...question);
  if (response.status !== status) {
    throw new Error(`${question[1]} ${question[2]}: ${response.status} ${JSON.stringify(response.body)}`);
  }
  return response.body as Body;
}
