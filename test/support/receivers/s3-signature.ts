// Checks the signature of a request to an object store with another implementation.
import { createHash } from 'node:crypto';
import aws4 from 'aws4';
import type { ReceivedDelivery } from './receiver.js';

export interface StoreCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w.-]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
const SIGNED_AT_LEAST = ['host', 'x-amz-content-sha256', 'x-amz-date'];

/** The store's error code, and null where nothing is wrong. */
export function signatureProblem(
  { method, path, headers, bytes }: ReceivedDelivery,
  { accessKeyId, secretAccessKey, sessionToken, region }: StoreCredentials,
): string | null {
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (match === null) return 'AccessDenied';
  const [, key, day, signedRegion, signedHeaders = ''] = match;
  const names = signedHeaders.split(';');
  const wanted = sessionToken === undefined ? SIGNED_AT_LEAST : [...SIGNED_AT_LEAST, 'x-amz-security-token'];
  if (!wanted.every((name) => names.includes(name))) return 'AccessDenied';
  const isUnsigned = (name: string): boolean => name.startsWith('x-amz-') && !names.includes(name);
  if (Object.keys(headers).some(isUnsigned)) return 'AccessDenied';
  if (key !== accessKeyId) return 'InvalidAccessKeyId';
  if (headers['x-amz-security-token'] !== sessionToken) return 'InvalidToken';
  if (signedRegion !== region) return 'AuthorizationHeaderMalformed';
  if (!String(headers['x-amz-date']).startsWith(`${day}T`)) return 'AccessDenied';
  if (headers['x-amz-content-sha256'] !== createHash('sha256').update(bytes).digest('hex')) {
    return 'XAmzContentSHA256Mismatch';
  }
  const signed = aws4.sign(
    {
      method,
      path,
      service: 's3',
      region,
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
    },
    { accessKeyId, secretAccessKey },
  );
  return signed.headers['Authorization'] === headers.authorization ? null : 'SignatureDoesNotMatch';
}
