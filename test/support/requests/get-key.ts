// Shared by the specs of keys.
import type { Response } from 'supertest';
import { hashKeySecret } from '../../../src/domain/keys/api-key.js';
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

/** Every member of a key that was created without options. */
export const freshRecord = (app: TestApp, secret: string, name: string): Record<string, unknown> => ({
  hash: hashKeySecret(secret),
  name,
  effective_limit: null,
  last_used_on: null,
  last_used_at: null,
  refusals: null,
  label: `${secret.slice(0, 12)}...${secret.slice(-4)}`,
  disabled: false,
  is_management_key: false,
  limit: null,
  limit_remaining: null,
  limit_reset: null,
  include_byok_in_limit: false,
  embedding_cache: false,
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  created_at: app.clock.now().toISOString(),
  updated_at: null,
  expires_at: null,
  creator_user_id: null,
  workspace_id: app.workspaceId,
  external_user: null,
});
