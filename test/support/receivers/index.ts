// The fakes of the destination platforms: one file and one line each, in the order of the kinds.
import { arizeReceiver } from './arize.js';
import { braintrustReceiver } from './braintrust.js';
import { clickhouseReceiver } from './clickhouse.js';
import { datadogReceiver } from './datadog.js';
import { grafanaReceiver } from './grafana.js';
import { langfuseReceiver } from './langfuse.js';
import { langsmithReceiver } from './langsmith.js';
import { newrelicReceiver } from './newrelic.js';
import { opikReceiver } from './opik.js';
import { otelCollectorReceiver } from './otel-collector.js';
import { posthogReceiver } from './posthog.js';
import { rampReceiver } from './ramp.js';
import { s3Receiver } from './s3.js';
import { sentryReceiver } from './sentry.js';
import { snowflakeReceiver } from './snowflake.js';
import { weaveReceiver } from './weave.js';
import { webhookReceiver } from './webhook.js';
import type { DestinationReceiver } from './receiver.js';

export const DESTINATION_RECEIVERS: readonly DestinationReceiver[] = [
  arizeReceiver,
  braintrustReceiver,
  clickhouseReceiver,
  datadogReceiver,
  grafanaReceiver,
  langfuseReceiver,
  langsmithReceiver,
  newrelicReceiver,
  opikReceiver,
  otelCollectorReceiver,
  posthogReceiver,
  rampReceiver,
  s3Receiver,
  sentryReceiver,
  snowflakeReceiver,
  weaveReceiver,
  webhookReceiver,
];
