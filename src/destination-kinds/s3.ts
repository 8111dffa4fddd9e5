// S3 or a compatible store: one JSON object per trace.
import { TextField } from './shared/config-fields.js';
import type { KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { inPath, objectKeyOf } from './objects/object-key.js';
import { bucketAddress, homeRegion, putObject } from './objects/signed-put.js';
import { problemOfPut, readStoreAnswer } from './objects/store-answer.js';
import { traceDocument } from './objects/trace-document.js';
import { wellFormedJson } from '../domain/text/well-formed-json.js';

// Both values become part of a header of every request.
const VISIBLE = /^[\x21-\x7e]*$/;
const VISIBLE_MESSAGE = 'must be of visible ASCII characters';
const REGION = /^[\w.-]*$/;
const URI = /^https?:\/\/[^\s/?#]+[^\s]*$/i;

export class S3Config extends BaseDestinationConfig {
  static override readonly ownHeaders = [
    'content-type',
    'authorization',
    'x-amz-content-sha256',
    'x-amz-date',
    'x-amz-security-token',
  ];

  @TextField({ description: 'Name of the bucket.' })
  bucketName: string;

  @TextField({
    description: 'Access key id with s3:PutObject.',
    secret: 'masked',
    pattern: VISIBLE,
    patternMessage: VISIBLE_MESSAGE,
  })
  accessKeyId: string;

  @TextField({ description: 'Secret access key.', secret: 'masked' })
  secretAccessKey: string;

  @TextField({
    description: 'Address of an S3-compatible store; absent for AWS.',
    address: 'public',
    optional: true,
    allowEmpty: true,
    pattern: URI,
    patternMessage: 'must be an absolute http or https URI',
  })
  endpoint?: string;

  @TextField({
    description: 'Region of the bucket.',
    optional: true,
    allowEmpty: true,
    pattern: REGION,
    patternMessage: 'must be of letters, digits, dots, hyphens and underscores',
  })
  region?: string;

  @TextField({
    description: 'Session token of temporary credentials.',
    secret: 'masked',
    optional: true,
    allowEmpty: true,
    pattern: VISIBLE,
    patternMessage: VISIBLE_MESSAGE,
  })
  sessionToken?: string;

  @TextField({
    description: 'First part of every object key.',
    allowEmpty: true,
    default: 'openrouter-traces',
  })
  prefix = 'openrouter-traces';

  @TextField({
    description: 'Path of an object; variables {prefix} {date} {year} {month} {day} {apiKeyName}.',
    allowEmpty: true,
    default: '{prefix}/{date}',
  })
  pathTemplate = '{prefix}/{date}';
}

const s3Delivery: KindDelivery<S3Config> = {
  // Each trace is one object, and so one request.
  limits: { maxTraces: 1, maxBytes: 8 * 1024 * 1024, linger: 1000, timeout: 30_000, parallelRequests: 32 },
  addresses: (config) => [config.endpoint ?? bucketAddress(config, homeRegion(config))],
  encode: (config, traces, { now }) => {
    const signing = { region: homeRegion(config), now, derivedKeys: new Map<string, ArrayBuffer>() };
    return Promise.all(
      traces.map((trace) =>
        putObject(config, objectKeyOf(config, trace), wellFormedJson(traceDocument(trace)), signing),
      ),
    );
  },
  read: readStoreAnswer,
  probe: async (config, { now }) => {
    // A fixed name leaves at most one object in a folder. Deleting it would need another permission.
    const key = inPath(config, { endedAt: now, apiKeyName: 'connection-test' }, 'connection-test.json');
    const region = homeRegion(config);
    const request = await putObject(config, key, '{"type":"connection-test"}', { region, now });
    return [{ request, problem: (response) => problemOfPut(response, region) }];
  },
};

export const s3: DestinationKind<S3Config> = {
  type: 's3',
  neutralType: 'kind_12',
  platform: 'Amazon S3',
  configClass: S3Config,
  delivery: s3Delivery,
  example: {
    bucketName: 'my-traces',
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
    region: 'eu-central-1',
  },
};
