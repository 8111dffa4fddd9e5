// S3 or a compatible store: one JSON object per trace.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

const URI = /^https?:\/\/[^\s/?#]+[^\s]*$/i;

export class S3Config extends BaseDestinationConfig {
  @TextField({ description: 'Name of the bucket.' })
  bucketName: string;

  @TextField({ description: 'Access key id with s3:PutObject.', secret: 'masked' })
  accessKeyId: string;

  @TextField({ description: 'Secret access key.', secret: 'masked' })
  secretAccessKey: string;

  @TextField({
    description: 'Address of an S3-compatible store; absent for AWS.',
    optional: true,
    allowEmpty: true,
    pattern: URI,
    patternMessage: 'must be an absolute http or https URI',
  })
  endpoint?: string;

  @TextField({ description: 'Region of the bucket.', optional: true, allowEmpty: true })
  region?: string;

  @TextField({
    description: 'Session token of temporary credentials.',
    secret: 'masked',
    optional: true,
    allowEmpty: true,
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

export const s3: DestinationKind = {
  type: 's3',
  neutralType: 'kind_12',
  platform: 'Amazon S3',
  configClass: S3Config,
  example: {
    bucketName: 'my-traces',
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
    region: 'eu-central-1',
  },
};
