// A signed PUT of one object: the address and region of a bucket, and the signature (AWS, version 4).
import { hash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { DeliveryRequest } from '../shared/delivery.js';

export interface BucketAccess {
  readonly bucketName: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly endpoint?: string;
  readonly region?: string;
  /** Sent with every request; the ones that the store reads are signed. */
  readonly headers?: Readonly<Record<string, string>>;
}

// Without an endpoint the region becomes part of the host.
const AWS_REGION = /^[a-z0-9-]+$/;
// Other stores choose their own region names: RegionOne, my_region.
const REGION = /^[\w.-]+$/;
const AWS_HOST = /(?:^|\.)amazonaws\.com(?:\.cn)?$/;
/** Hosts of AWS and others with a region: s3.eu-central-1.amazonaws.com, s3.fr-par.scw.cloud. */
const HOST_WITH_REGION = /(?:^|\.)s3[.-]([a-z]+-[a-z0-9-]+)\./;

/** The region that requests are signed for until the store names another. */
export function homeRegion(access: BucketAccess): string {
  const { region = '', endpoint } = access;
  const given = isAws(access) ? region.trim().toLowerCase() : region.trim();
  if (canBeIn(access, given)) return given;
  if (endpoint === undefined) return 'us-east-1';
  // Cloudflare has one region, with this name.
  if (/\.r2\.cloudflarestorage\.com\b/i.test(endpoint)) return 'auto';
  return HOST_WITH_REGION.exec(new URL(endpoint).host)?.[1] ?? 'us-east-1';
}

/** Whether this can be the name of a region of the store. */
export function canBeIn(access: BucketAccess, region: string): boolean {
  return (isAws(access) ? AWS_REGION : REGION).test(region);
}

function isAws({ endpoint }: BucketAccess): boolean {
  return endpoint === undefined || AWS_HOST.test(new URL(endpoint).hostname);
}

/**
 * The part behind the bucket in hosts that stores assign to single buckets. A self-hosted store may have any host, and
 * its first label may equal the bucket's name: minio.example.com.
 */
const STORE_OF_BUCKETS = new RegExp(
  [
    '^(?:s3[.-]|minio\\.|obs\\.|cos\\.|oss-|sos-)',
    '^storage\\.(?:googleapis\\.com|yandexcloud\\.net)$',
    '^[^.]+\\.(?:digitaloceanspaces|linodeobjects|vultrobjects|upcloudobjects|your-objectstorage)\\.com$',
    '^[0-9a-f]{32}\\.(?:[a-z]+\\.)?r2\\.cloudflarestorage\\.com$',
  ].join('|'),
);

/** The address that keys are appended to, without a trailing slash. */
export function bucketAddress({ bucketName, endpoint }: BucketAccess, region: string): string {
  const inPathStyle = `/${escaped(bucketName)}`;
  if (endpoint !== undefined) {
    const { hostname, origin, pathname } = new URL(endpoint);
    const base = origin + pathname.replace(/\/+$/, '');
    // Users may paste the address of the bucket itself.
    const isInHost =
      hostname.startsWith(`${bucketName}.`) && STORE_OF_BUCKETS.test(hostname.slice(bucketName.length + 1));
    return isInHost || base.endsWith(inPathStyle) ? base : base + inPathStyle;
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  // The certificate of the virtual host covers one label. Older buckets have names with several labels, or with invalid
  // characters.
  return /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucketName)
    ? `https://${bucketName}.s3.${region}.${domain}`
    : `https://s3.${region}.${domain}${inPathStyle}`;
}

export interface Signing {
  readonly region: string;
  readonly now: Date;
  /** Derived signing keys, shared by all requests of a day and region. */
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

/** The same PUT, signed for another region, and sent there if the store is AWS. */
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
  { accessKeyId, secretAccessKey, sessionToken, headers }: BucketAccess,
  url: string,
  body: string | Buffer,
  { region, now, derivedKeys }: Signing,
): Promise<DeliveryRequest> {
  const signer = new AwsV4Signer({
    method: 'PUT',
    url,
    headers: {
      'content-type': 'application/json',
      // This header makes the content part of the signature.
      'x-amz-content-sha256': hash('sha256', body),
      ...(headers && storeHeaders(headers)),
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

// Headers that the signature already covers.
const SIGNED_ANYWAY = new Set(['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']);

/** Headers that a store refuses unsigned, with lower-case names. */
function storeHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(named.filter(([name]) => name.startsWith('x-amz-') && !SIGNED_ANYWAY.has(name)));
}

/** The region in the scope of a request's signature. */
export function signedRegion({ headers }: DeliveryRequest): string | undefined {
  return /Credential=[^,]*\/([^/,]+)\/s3\/aws4_request/.exec(headers['authorization'] ?? '')?.[1];
}

/** Escapes everything but unreserved characters, as the signature requires. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
