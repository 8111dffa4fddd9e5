// Codes that a program exchanges for a key, after a person has consented.
import { api, call } from './client';
import type { Schemas } from './client';

export type NewAuthCode = Schemas['CreateAuthCodeDto'];

/** The code, which works once. */
export async function createAuthCode(body: NewAuthCode): Promise<string> {
  return (await call(api.POST('/api/v1/auth/keys/code', { body }))).data.id;
}
