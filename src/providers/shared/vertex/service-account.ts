// The key of a service account of Google Cloud, as its JSON.
import { createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isObject } from '../../../domain/members.js';
import { UnusableKey } from '../token-exchange.js';

export const GOOGLE_TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';
// Bits. A longer key takes a processor for long.
const RSA_BITS = { least: 2_048, most: 4_096 } as const;
/** Google's ids, with the domain that some have. It becomes a part of paths. */
const PROJECT = /^(?:[a-z0-9.-]{1,100}:)?[a-z][a-z0-9-]{1,62}$/;
const TEXT = /^[\x21-\x7e]{1,1000}$/;

export interface ServiceAccount {
  readonly projectId: string;
  readonly email: string;
  readonly privateKeyId: string | null;
  /** PEM. */
  readonly privateKey: string;
  readonly tokenAddress: string;
}

/** Throws UnusableKey. */
export function readServiceAccount(apiKey: string): ServiceAccount {
  const {
    type,
    project_id: projectId,
    client_email: email,
    private_key: privateKey,
    private_key_id: privateKeyId,
    token_uri: tokenAddress = GOOGLE_TOKEN_ADDRESS,
  } = membersOf(apiKey);
  if (type !== 'service_account') throw unusable('type must be service_account');
  if (!isText(projectId) || !PROJECT.test(projectId))
    throw unusable('project_id must be the id of a project');
  if (!isText(email)) throw unusable('client_email must be a text');
  if (typeof privateKey !== 'string') throw unusable('private_key must be a text');
  if (!isText(tokenAddress) || !URL.canParse(tokenAddress)) throw unusable('token_uri must be an address');
  return {
    projectId,
    email,
    privateKey,
    privateKeyId: isText(privateKeyId) ? privateKeyId : null,
    tokenAddress,
  };
}

/** Throws UnusableKey. */
export function signingKey({ privateKey }: ServiceAccount): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    throw unusable('private_key must be a private key in PEM');
  }
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const isRsa = key.asymmetricKeyType === 'rsa';
  if (!isRsa || modulusLength < RSA_BITS.least || modulusLength > RSA_BITS.most)
    throw unusable(`private_key must be of RSA with ${RSA_BITS.least} to ${RSA_BITS.most} bits`);
  return key;
}

function membersOf(apiKey: string): Readonly<Record<string, unknown>> {
  try {
    const members: unknown = JSON.parse(apiKey);
    if (isObject(members)) return members;
  } catch {
    // Below.
  }
  throw unusable('it must be a JSON object');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value);
}

function unusable(rule: string): UnusableKey {
  return new UnusableKey(`the key is none of a service account: ${rule}`);
}
