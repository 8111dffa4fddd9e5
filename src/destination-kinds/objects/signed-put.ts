// A signed PUT of one object: where a bucket is, in which region, and the signature (AWS, version 4).
import { hash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { DeliveryRequest } from '../delivery.js';

export interface BucketAccess {
  readonly bucketName: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly endpoint?: string;
  readonly region?: string;
}

const REGION = /^[a-z0-9-]+$/;
/** As hosts of AWS and of others have it: s3.eu-central-1.amazonaws.com, s3.fr-par.scw.cloud. */
const HOST_WITH_REGION = /(?:^|\.)s3[.-]([a-z]+-[a-z0-9-]+)\./;

/** The region that requests are signed for as long as the store names no other. */
export function homeRegion({ region = '', endpoint }: BucketAccess): string {
  const given = region.trim().toLowerCase();
  if (REGION.test(given)) return given;
  if (endpoint === undefined) return 'us-east-1';
  // Cloudflare has one region, and this is its name.
  if (/\.r2\.cloudflarestorage\.com\b/i.test(endpoint)) return 'auto';
  return HOST_WITH_REGION.exec(new URL(endpoint).host)?.[1] ?? 'us-east-1';
}

/** The address that keys are appended to, without a slash at its end. */
export function bucketAddress({ bucketName, endpoint }: BucketAccess, region: string): string {
  const inPathStyle = `/${escaped(bucketName)}`;
  if (endpoint !== undefined) {
    const { host, origin, pathname } = new URL(endpoint);
    const base = origin + pathname.replace(/\/+$/, '');
    // People also paste the address of the bucket itself.
    const namesBucket = host.startsWith(`${bucketName}.`) || base.endsWith(inPathStyle);
    return namesBucket ? base : base + inPathStyle;
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  // The certificate of the virtual host covers one label; older buckets have names that are more than that, or no label.
  return /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucketName)
    ? `https://${bucketName}.s3.${region}.${domain}`
    : `https://s3.${region}.${domain}${inPathStyle}`;
}

export interface Signing {
  readonly region: string;
  readonly now: Date;
  /** Keys of signatures made before: the same for all requests of a day and region. */
  readonly derivedKeys?: Map<string, ArrayBuffer>;
}

export function putObject(
  access: BucketAccess,
  key: string,
  body: string,
  signing: Signing,
): Promise<DeliveryRequest> {
  const path = key.split('/').map(escaped).join('/');
  return signedPut(access, `${bucketAddress(access, signing.region)}/${path}`, body, signing);
}

/** The same PUT, signed for another region, and sent there where the store is AWS. */
export function movedPut(
  access: BucketAccess,
  { url, body = '' }: DeliveryRequest,
  from: string,
  signing: Signing,
): Promise<DeliveryRequest> {
  const path = url.slice(bucketAddress(access, from).length);
  return signedPut(access, bucketAddress(access, signing.region) + path, body, signing);
}

async function signedPut(
  { accessKeyId, secretAccessKey, sessionToken }: BucketAccess,
  url: string,
  body: string | Buffer,
  { region, now, derivedKeys }: Signing,
): Promise<DeliveryRequest> {
  const signer = new AwsV4Signer({
    method: 'PUT',
    url,
    headers: {
      'content-type': 'application/json',
      // Without it the content would go unsigned.
      'x-amz-content-sha256': hash('sha256', body),
    },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken ? { sessionToken } : {}),
    service: 's3',
    region,
    datetime: now.toISOString().replace(/[:-]|\.\d{3}/g, ''),
    ...(derivedKeys ? { cache: derivedKeys } : {}),
  });
  const signed = await signer.sign();
  return { method: 'PUT', url: signed.url.href, headers: Object.fromEntries(signed.headers), body };
}

/** The region in the scope of a request's signature. */
export function signedRegion({ headers }: DeliveryRequest): string | undefined {
  return /Credential=[^,]*\/([^/,]+)\/s3\/aws4_request/.exec(headers['authorization'] ?? '')?.[1];
}

/** Everything but unreserved characters as escapes: what the signature is made of. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
