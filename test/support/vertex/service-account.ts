// Service accounts of Google Cloud, and Google's check of what they sign.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

export interface ServiceAccountKey {
  readonly type: string;
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly token_uri?: string;
}

export function serviceAccount(name: string, members: Partial<ServiceAccountKey> = {}): ServiceAccountKey {
  return {
    type: 'service_account',
    project_id: `project-of-${name}`,
    private_key_id: `key-of-${name}`,
    private_key: PEM,
    client_email: `${name}@project.iam.gserviceaccount.com`,
    ...members,
  };
}

/** In one line, as the variable and customers' keys have it. */
export const keyOf = (account: ServiceAccountKey): string => JSON.stringify(account);

export interface Statement {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The statement of a request for a token; throws where Google would refuse it. */
export function checkedStatement(
  form: string,
  address: string,
  key: KeyObject = createPublicKey(privateKey),
): Statement {
  const members = new URLSearchParams(form);
  if (members.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    throw new Error('unsupported_grant_type');
  const [header = '', claims = '', signature = ''] = (members.get('assertion') ?? '').split('.');
  const signed = Buffer.from(`${header}.${claims}`);
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))
    throw new Error('Invalid JWT Signature.');
  const read = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;
  const statement = { header: read(header), claims: read(claims) };
  const { aud, scope, iat, exp } = statement.claims;
  if (aud !== address) throw new Error('Invalid audience');
  if (scope !== 'https://www.googleapis.com/auth/cloud-platform') throw new Error('invalid_scope');
  if (Number(exp) - Number(iat) !== 3_600) throw new Error('Token must be a short-lived token (60 minutes)');
  return statement;
}
