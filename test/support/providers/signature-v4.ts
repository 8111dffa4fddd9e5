// AWS Signature Version 4, computed from the received request: independent of the library that signed it. Source: AWS,
// "Create a signed request".
import { createHash, createHmac } from 'node:crypto';
import type { StubRequest } from './provider-stub.js';

const MAX_SKEW_MILLISECONDS = 5 * 60 * 1000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

export interface SigningSecrets {
  readonly secretAccessKey: string;
  /** Accepted, not required. */
  readonly sessionToken: string;
  readonly service: string;
}

/** In the words of AWS, or null when the signature is right. */
export function findSignatureProblem(request: StubRequest, secrets: SigningSecrets): string | null {
  const { headers } = request;
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (!match) return 'Authorization header requires Credential, SignedHeaders and Signature.';
  const [, date = '', region = '', service = '', signedHeaders = '', signature = ''] = match;
  const dateTime = String(headers['x-amz-date']);
  if (service !== secrets.service)
    return `Credential should be scoped to correct service: '${secrets.service}'.`;
  if (!dateTime.startsWith(date)) return 'Date in Credential scope does not match YYYYMMDD from ISO-8601.';
  if (Math.abs(Date.now() - momentOf(dateTime)) > MAX_SKEW_MILLISECONDS)
    return `Signature expired: ${dateTime}`;
  const sessionToken = headers['x-amz-security-token'];
  if (sessionToken !== undefined && sessionToken !== secrets.sessionToken) {
    return 'The security token included in the request is invalid.';
  }
  const names = signedHeaders.split(';');
  const needed = ['host', 'x-amz-date', ...(sessionToken === undefined ? [] : ['x-amz-security-token'])];
  if (!needed.every((name) => names.includes(name))) return 'A header that must be signed is not.';
  const scope = `${date}/${region}/${service}/aws4_request`;
  const key = [date, region, service, 'aws4_request'].reduce(
    (secret: string | Buffer, part) => hmac(secret, part),
    `AWS4${secrets.secretAccessKey}`,
  );
  const isRight = [String(headers.host), withoutPort(String(headers.host))].some((host) => {
    const canonical = canonicalRequest({ ...request, headers: { ...headers, host } }, names);
    const toSign = ['AWS4-HMAC-SHA256', dateTime, scope, sha256(canonical)].join('\n');
    return hmac(key, toSign).toString('hex') === signature;
  });
  return isRight ? null : 'The request signature we calculated does not match the signature you provided.';
}

/** The real service has the port of its scheme, which no signer writes: some leave out every other one as well. */
function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function canonicalRequest(request: StubRequest, names: readonly string[]): string {
  const [path = '', query = ''] = request.path.split('?');
  // Every service but S3 encodes the path once more.
  const canonicalPath = path.split('/').map(encodeURIComponent).join('/');
  const headers = names.map(
    (name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}\n`,
  );
  return [
    request.method,
    canonicalPath,
    query,
    headers.join(''),
    names.join(';'),
    sha256(request.bytes),
  ].join('\n');
}

/** 20261121T120000Z. */
function momentOf(dateTime: string): number {
  return Date.parse(dateTime.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
