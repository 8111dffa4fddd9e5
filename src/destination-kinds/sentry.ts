// Sentry: OTLP traces of a project.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

// contract 1.2: https, a public key, an optional secret, a host, an optional path, a numeric project id.
const DSN = /^https:\/\/[^\s:@/]+(:[^\s:@/]*)?@[^\s@/]+(\/[^\s/]+)*\/\d+\/?$/;

export class SentryConfig extends BaseDestinationConfig {
  @TextField({
    description: 'DSN of the project.',
    secret: 'masked',
    pattern: DSN,
    patternMessage: 'must be a DSN: https://<public key>@<host>/<project id>',
  })
  dsn: string;

  @TextField({ description: 'OTLP traces endpoint of the project.', allowEmpty: true })
  otlpEndpoint: string;
}

export const sentry: DestinationKind = {
  type: 'sentry',
  neutralType: 'kind_13',
  platform: 'Sentry',
  configClass: SentryConfig,
  example: {
    dsn: 'https://0123456789abcdef@o1.ingest.sentry.io/42',
    otlpEndpoint: 'https://o1.ingest.sentry.io/api/42/integration/otlp/v1/traces',
  },
};
