// Reads the responses of object stores to a PUT. Sources: docs/contract.md#deliveries, the error codes of Amazon S3.
import type {
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
} from '../shared/delivery.js';
import { describeAnswer, isSuccess, outcomeOfStatus } from '../shared/delivery-outcome.js';
import { canBeIn, homeRegion, movedPut, signedRegion } from './signed-put.js';
import type { BucketAccess } from './signed-put.js';

/** Codes whose status is misleading, or which need an explanation. */
const BLOCKING: ReadonlyMap<string, string> = new Map([
  ['AccessDenied', 'the key may not put objects (s3:PutObject) here'],
  ['AuthorizationHeaderMalformed', 'the region is wrong: set region'],
  ['ExpiredToken', 'the session token has expired: set new credentials'],
  ['InvalidAccessKeyId', 'the store does not know the access key id'],
  ['InvalidBucketName', 'no bucket can have this name'],
  ['InvalidRequest', 'the bucket has rules that a plain PUT does not meet'],
  ['InvalidToken', 'the session token is wrong'],
  ['NoSuchBucket', 'there is no such bucket'],
  ['NotImplemented', 'the store does not know this request'],
  [
    'RequestTimeTooSkewed',
    'the clock of this service and that of the store are too far apart: set the clock',
  ],
  ['SignatureDoesNotMatch', 'the secret access key is wrong'],
  ['TokenRefreshRequired', 'the session token has expired: set new credentials'],
]);

const PASSING = new Set([
  'BadDigest',
  'ConditionalRequestConflict',
  'IncompleteBody',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'XAmzContentSHA256Mismatch',
]);

export async function readStoreAnswer(
  response: DeliveryResponse,
  request: DeliveryRequest,
  access: BucketAccess,
  context: DeliveryContext,
): Promise<DeliveryOutcome> {
  const from = signedRegion(request);
  const elsewhere = otherRegion(response, from);
  const worded = inOurWords(response, from);
  if (elsewhere !== null) {
    // Followed once: a second response of this kind comes from a store that does not know the region of its bucket.
    if (from !== homeRegion(access) || !canBeIn(access, elsewhere)) {
      return { outcome: 'blocked', reason: describeAnswer(worded) };
    }
    const moved = await movedPut(access, request, from, { region: elsewhere, now: context.now });
    return { outcome: 'continue', delay: 0, request: moved };
  }
  const code = codeOf(response) ?? '';
  if (BLOCKING.has(code) || code.startsWith('KMS.')) {
    return { outcome: 'blocked', reason: describeAnswer(worded) };
  }
  return outcomeOfStatus(worded, context, {
    retried: (status) => PASSING.has(code) || [408, 409, 425, 429].includes(status) || status >= 500,
  });
}

/** The problem in the response to a PUT that was signed for this region; null for a success. */
export function problemOfPut(response: DeliveryResponse, signedFor: string): string | null {
  return isSuccess(response.status) ? null : describeAnswer(inOurWords(response, signedFor));
}

/** A response that is safe to quote. The store's own text repeats access keys and session tokens. */
function inOurWords(response: DeliveryResponse, signedFor: string | undefined): DeliveryResponse {
  const elsewhere = otherRegion(response, signedFor);
  const code = codeOf(response) ?? '';
  const known = BLOCKING.get(code);
  const words = known === undefined ? code : `${code}: ${known}`;
  return {
    ...response,
    body: Buffer.from(
      elsewhere === null ? words : `the bucket is in the region ${elsewhere}: set region to it`,
    ),
  };
}

const CODE = /<Error>\s*<Code>([A-Za-z0-9.]{1,64})<\/Code>/;
const MALFORMED_SCOPE = /<Code>AuthorizationHeaderMalformed<\/Code>[^]*<Region>([\w.-]{1,64})<\/Region>/;
const MAX_READ = 8192;

function codeOf({ body }: DeliveryResponse): string | null {
  return CODE.exec(body.toString('utf8', 0, MAX_READ))?.[1] ?? null;
}

/** The region of the bucket, from a response that names another region than the signed one. */
function otherRegion(
  { status, headers, body }: DeliveryResponse,
  signedFor: string | undefined,
): string | null {
  if (![301, 307, 400].includes(status)) return null;
  const header = headers['x-amz-bucket-region'];
  const region =
    typeof header === 'string' && /^[\w.-]{1,64}$/.test(header)
      ? header
      : MALFORMED_SCOPE.exec(body.toString('utf8', 0, MAX_READ))?.[1];
  return region === undefined || region === signedFor ? null : region;
}
