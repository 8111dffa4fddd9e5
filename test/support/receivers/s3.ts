// A bucket of Amazon S3 whose access key may put objects and nothing else. Source: AWS, "PutObject" and "Error responses";
// the form of the objects: docs/destinations/s3.md.
import { isFlag, isOneOf, isText } from '../providers/provider-stub.js';
import {
  generationIdOf,
  isCount,
  isNumber,
  isObject,
  isString,
  isTime,
  listOf,
  matches,
  objectWith,
  orNull,
  readJson,
} from './json-checks.js';
import type { DestinationReceiver, ReceivedDelivery, ReceiverResult } from './receiver.js';
import { signatureProblem } from './s3-signature.js';

const CONFIG = {
  bucketName: 'my-traces',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
  sessionToken: 'FwoGZXIvYXdzEBEaDEXAMPLETOKEN',
  region: 'eu-central-1',
  pathTemplate: '{prefix}/{year}/{month}/{day}/{apiKeyName}',
};
const HOST = `${CONFIG.bucketName}.s3.${CONFIG.region}.amazonaws.com`;
const ANY_REGION = /^my-traces\.s3\.[a-z0-9-]+\.amazonaws\.com$/;
const MAX_KEY_BYTES = 1024;

const STATUS_OF: Readonly<Record<string, number>> = {
  AuthorizationHeaderMalformed: 400,
  InvalidToken: 400,
  KeyTooLongError: 400,
  XAmzContentSHA256Mismatch: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  PermanentRedirect: 301,
  InternalError: 500,
  SlowDown: 503,
};

/** In the words of S3, which tell more than they should: keys and tokens among them. */
function errorReply(code: string): ReceiverResult['reply'] {
  const { accessKeyId, sessionToken, region } = CONFIG;
  return {
    status: STATUS_OF[code] ?? 403,
    headers: { 'content-type': 'application/xml', 'x-amz-bucket-region': region },
    body: `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>No.</Message><AWSAccessKeyId>${accessKeyId}</AWSAccessKeyId><Token-0>${sessionToken}</Token-0><RequestId>4442587FB7D0A2F9</RequestId></Error>`,
  };
}

const isMembers = isObject;
const isUsage = objectWith(
  { input: isCount, output: isCount, total: isCount },
  {
    prompt_tokens: isCount,
    completion_tokens: isCount,
    total_tokens: isCount,
    prompt_tokens_details: isMembers,
    completion_tokens_details: isMembers,
    cost: isNumber,
    is_byok: isFlag,
    cost_details: isMembers,
  },
);
const isInput = objectWith(
  { input: listOf((item) => typeof item === 'string' || listOf(isCount)(item)) },
  { truncated: isFlag },
);
const isChatInput = objectWith(
  { messages: listOf(isMembers) },
  { tools: listOf(isMembers, 1), truncated: isFlag },
);
const OF_CHAT = {
  operation: isOneOf('chat'),
  parameters: isMembers,
  finish_reason: orNull(isText),
  native_finish_reason: orNull(isText),
  time_to_first_token_ms: orNull(isCount),
  streamed: isFlag,
  cancelled: isFlag,
};
const OBSERVATION = {
  id: matches(/^[0-9a-f]{16}$/),
  generationId: matches(/^gen-[0-9a-f]{32}$/),
  traceId: matches(/^[0-9a-f]{32}$/),
  parentId: orNull(matches(/^[0-9a-f]{16}$/)),
  type: isOneOf('GENERATION'),
  name: isText,
  startTime: isTime,
  endTime: isTime,
  durationMs: isNumber,
  level: isOneOf('DEFAULT', 'ERROR'),
  status: isOneOf('ok', 'error'),
  apiKeyName: isString,
  model: isText,
  provider: orNull(isText),
  modelParameters: isMembers,
  input: orNull((value: unknown) => isInput(value) || isChatInput(value)),
  output: isMembers,
  usage: isUsage,
  cost: orNull(isNumber),
  metadata: isMembers,
  attributes: isMembers,
};
const isObservation = (value: unknown): boolean =>
  objectWith(OBSERVATION)(value) || objectWith({ ...OBSERVATION, ...OF_CHAT })(value);
const isDocument = objectWith({
  id: isText,
  name: isText,
  userId: orNull(isText),
  sessionId: orNull(isText),
  timestamp: isTime,
  metadata: isMembers,
  observations: listOf(isObservation, 1, 1),
});

interface Document {
  readonly observations: readonly [
    {
      readonly id: string;
      readonly generationId: string;
      readonly traceId: string;
      readonly endTime: string;
    },
  ];
}

/** The key, whether the bucket stands in the host or in the path; undefined: it stands in neither. */
function keyOf({ path, headers }: ReceivedDelivery): string | undefined {
  const inPath = `/${CONFIG.bucketName}/`;
  if (headers.host === HOST) return decodeURIComponent(path.slice(1));
  return path.startsWith(inPath) ? decodeURIComponent(path.slice(inPath.length)) : undefined;
}

function check(request: ReceivedDelivery): ReceiverResult {
  const no = (code: string): ReceiverResult => ({ reply: errorReply(code), stored: [] });
  const yes = (...stored: string[]): ReceiverResult => ({
    reply: { status: 200, headers: { etag: '"0"' } },
    stored,
  });
  const key = keyOf(request);
  if (ANY_REGION.test(request.headers.host ?? '') && request.headers.host !== HOST)
    return no('PermanentRedirect');
  if (key === undefined) return no('NoSuchBucket');
  if (request.method !== 'PUT') return no('MethodNotAllowed');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return no('KeyTooLongError');
  const problem = signatureProblem(request, CONFIG);
  if (problem !== null) return no(problem);
  const body = readJson(request);
  if (key === 'openrouter-traces/2026/11/21/connection-test/connection-test.json') {
    return objectWith({ type: isOneOf('connection-test') })(body) ? yes() : no('AccessDenied');
  }
  // A store takes any object; this one only those that its reader understands.
  if (!isDocument(body)) return no('AccessDenied');
  const [{ id, traceId, generationId, endTime }] = (body as Document).observations;
  const [file = '', ...folders] = key.split('/').toReversed();
  const expectedName = `${traceId}-${Math.floor(Date.parse(endTime) / 1000)}`;
  if (file !== `${expectedName}.json` && file !== `${expectedName}-${id}.json`) return no('AccessDenied');
  const [apiKeyName = '', ...others] = folders;
  const isClean = /^[^\p{C}\\/]+$/u.test(apiKeyName) && !['.', '..'].includes(apiKeyName);
  const date = new Date(endTime).toISOString().slice(0, 10).split('-');
  if (!isClean || others.toReversed().join('/') !== ['openrouter-traces', ...date].join('/')) {
    return no('AccessDenied');
  }
  return yes(generationIdOf(generationId));
}

export const s3Receiver: DestinationReceiver = {
  type: 's3',
  config: CONFIG,
  expectedOrigin: `https://${HOST}`,
  configFor: (origin) => ({ ...CONFIG, endpoint: origin }),
  check,
  failures: {
    unauthorized: errorReply('InvalidAccessKeyId'),
    rateLimited: errorReply('SlowDown'),
    unavailable: errorReply('InternalError'),
  },
  partial: null,
};
