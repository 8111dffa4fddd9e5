// Shared by the specs of POST /observability/destinations.
import { expect } from '@jest/globals';
import type { Test } from 'supertest';
import type { TestApp } from '../app/app.js';
import { expectError } from './error-shape.js';

export const DESTINATIONS = '/api/v1/observability/destinations';

export const WEBHOOK = {
  type: 'webhook',
  name: 'Hook',
  config: { url: 'https://example.com/traces' },
} as const;

export function post(app: TestApp, body: object | string, key = app.managementKey): Test {
  return app.http
    .post(DESTINATIONS)
    .set('authorization', `Bearer ${key}`)
    .set('content-type', 'application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Frees every slot, as a delete of each destination would. */
export async function deleteAllDestinations(app: TestApp): Promise<void> {
  await app.sql('UPDATE destinations SET slot = NULL, deleted_at = now() WHERE deleted_at IS NULL');
}

/** Expects a 400 whose detail, behind the standard text, is or matches `detail`, and that does not show `secret`. */
export async function expectInvalidRequest(
  app: TestApp,
  body: object | string,
  detail: string | RegExp,
  secret = 'no secret',
): Promise<void> {
  const response = await post(app, body);
  const text = expectError(response, 400, /^Invalid request parameters: /);
  if (typeof detail === 'string') expect(text).toBe(`Invalid request parameters: ${detail}`);
  else expect(text).toMatch(detail);
  expect(response.text).not.toContain(secret);
}

export async function expectNothingStored(app: TestApp): Promise<void> {
  expect(await app.sql('SELECT id FROM destinations WHERE deleted_at IS NULL')).toEqual([]);
}
