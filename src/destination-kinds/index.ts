// The list of destination kinds, in the order of docs/contract.md#destination-kinds. A new kind is one file and one
// line here.
import { arize } from './arize.js';
import { braintrust } from './braintrust.js';
import { clickhouse } from './clickhouse.js';
import { datadog } from './datadog.js';
import { grafana } from './grafana.js';
import { langfuse } from './langfuse.js';
import { langsmith } from './langsmith.js';
import { newrelic } from './newrelic.js';
import { opik } from './opik.js';
import { otelCollector } from './otel-collector.js';
import { posthog } from './posthog.js';
import { ramp } from './ramp.js';
import { s3 } from './s3.js';
import { sentry } from './sentry.js';
import { snowflake } from './snowflake.js';
import { weave } from './weave.js';
import { webhook } from './webhook.js';
import type { DestinationKind } from './shared/destination-kind.js';

export const DESTINATION_KINDS: readonly DestinationKind[] = [
  arize,
  braintrust,
  clickhouse,
  datadog,
  grafana,
  langfuse,
  langsmith,
  newrelic,
  opik,
  otelCollector,
  posthog,
  ramp,
  s3,
  sentry,
  snowflake,
  weave,
  webhook,
];

/** Both spellings of every kind (docs/contract.md#destination-kinds). */
export const DESTINATION_TYPES: readonly string[] = DESTINATION_KINDS.flatMap((kind) =>
  kind.neutralType === null ? [kind.type] : [kind.type, kind.neutralType],
);

const kindsByType = new Map(
  DESTINATION_KINDS.flatMap((kind) => [kind.type, kind.neutralType ?? kind.type].map((type) => [type, kind])),
);

/** Returns the kind of a type in either spelling. */
export function findDestinationKind(type: string): DestinationKind | undefined {
  return kindsByType.get(type);
}

/** Returns the kind of a stored destination. An unknown kind in a row is an operator's error. */
export function requireDestinationKind(type: string): DestinationKind {
  const kind = findDestinationKind(type);
  if (!kind) throw new Error(`unknown destination kind: ${type}`);
  return kind;
}
