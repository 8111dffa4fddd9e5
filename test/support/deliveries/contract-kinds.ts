// The contract of every destination kind (docs/contract.md#destination-kinds), independent of the implementing code.

export interface ContractKind {
  readonly type: string;
  readonly neutralType: string | null;
  /** Required and at least one character long. */
  readonly filled: readonly string[];
  /** Required, may be empty. */
  readonly present?: readonly string[];
  /** Optional, and at least one character long when given. */
  readonly filledIfGiven?: readonly string[];
  readonly optional?: readonly string[];
  readonly defaults: Readonly<Record<string, string>>;
  /** Never shown in clear (docs/contract.md#masking). */
  readonly secrets: readonly string[];
  /** An address whose path and query may be a credential: shown without them. */
  readonly secretAddress?: string;
}

export const CONTRACT_KINDS: readonly ContractKind[] = [
  {
    type: 'arize',
    neutralType: 'kind_01',
    filled: ['apiKey', 'spaceKey', 'modelId'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://otlp.arize.com', parentSpans: 'link' },
    secrets: ['apiKey', 'spaceKey'],
  },
  {
    type: 'braintrust',
    neutralType: 'kind_02',
    filled: ['apiKey', 'projectId'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://api.braintrust.dev', parentSpans: 'root' },
    secrets: ['apiKey'],
  },
  {
    type: 'clickhouse',
    neutralType: 'kind_03',
    filled: ['host', 'database', 'username', 'password'],
    defaults: { table: 'OPENROUTER_TRACES' },
    secrets: ['password'],
  },
  {
    type: 'datadog',
    neutralType: 'kind_04',
    filled: ['apiKey', 'mlApp'],
    filledIfGiven: ['parentSpans'],
    defaults: { url: 'https://api.datadoghq.com', parentSpans: 'link' },
    secrets: ['apiKey'],
  },
  {
    type: 'grafana',
    neutralType: 'kind_05',
    filled: ['apiKey', 'instanceId'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://otlp-gateway-prod-us-west-0.grafana.net', parentSpans: 'link' },
    secrets: ['apiKey'],
  },
  {
    type: 'langfuse',
    neutralType: 'kind_06',
    filled: ['secretKey', 'publicKey'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://us.cloud.langfuse.com', parentSpans: 'root' },
    secrets: ['secretKey', 'publicKey'],
  },
  {
    type: 'langsmith',
    neutralType: 'kind_07',
    filled: ['apiKey'],
    filledIfGiven: ['parentSpans', 'project'],
    optional: ['workspaceId'],
    defaults: { endpoint: 'https://api.smith.langchain.com', project: 'main', parentSpans: 'root' },
    secrets: ['apiKey'],
  },
  {
    type: 'newrelic',
    neutralType: 'kind_08',
    filled: ['licenseKey'],
    filledIfGiven: ['parentSpans', 'region'],
    defaults: { region: 'us', parentSpans: 'link' },
    secrets: ['licenseKey'],
  },
  {
    type: 'opik',
    neutralType: 'kind_09',
    filled: ['apiKey', 'workspace', 'projectName'],
    defaults: {},
    secrets: ['apiKey'],
  },
  {
    type: 'otel-collector',
    neutralType: null,
    filled: [],
    filledIfGiven: ['parentSpans'],
    present: ['endpoint'],
    defaults: { parentSpans: 'link' },
    secrets: [],
    secretAddress: 'endpoint',
  },
  {
    type: 'posthog',
    neutralType: 'kind_10',
    filled: ['apiKey'],
    filledIfGiven: ['parentSpans'],
    defaults: { endpoint: 'https://us.i.posthog.com', parentSpans: 'link' },
    secrets: ['apiKey'],
  },
  {
    type: 'ramp',
    neutralType: 'kind_11',
    filled: ['apiKey'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://api.ramp.com/developer/v1/ai-usage/openrouter', parentSpans: 'link' },
    secrets: ['apiKey'],
    secretAddress: 'baseUrl',
  },
  {
    type: 's3',
    neutralType: 'kind_12',
    filled: ['bucketName', 'accessKeyId', 'secretAccessKey'],
    filledIfGiven: ['endpoint'],
    optional: ['region', 'sessionToken'],
    defaults: { prefix: 'openrouter-traces', pathTemplate: '{prefix}/{date}' },
    secrets: ['accessKeyId', 'secretAccessKey', 'sessionToken'],
  },
  {
    type: 'sentry',
    neutralType: 'kind_13',
    filled: ['dsn'],
    filledIfGiven: ['parentSpans'],
    present: ['otlpEndpoint'],
    defaults: { parentSpans: 'link' },
    secrets: ['dsn'],
  },
  {
    type: 'snowflake',
    neutralType: 'kind_14',
    filled: ['account', 'token'],
    defaults: {
      database: 'SNOWFLAKE_LEARNING_DB',
      schema: 'PUBLIC',
      table: 'OPENROUTER_TRACES',
      warehouse: 'COMPUTE_WH',
    },
    secrets: ['token'],
  },
  {
    type: 'weave',
    neutralType: 'kind_15',
    filled: ['apiKey', 'entity', 'project'],
    filledIfGiven: ['parentSpans'],
    defaults: { baseUrl: 'https://trace.wandb.ai', parentSpans: 'root' },
    secrets: ['apiKey'],
  },
  {
    type: 'webhook',
    neutralType: null,
    filled: [],
    filledIfGiven: ['parentSpans', 'method'],
    present: ['url'],
    defaults: { method: 'POST', parentSpans: 'link' },
    secrets: [],
    secretAddress: 'url',
  },
];

/** A config as a record shows it (docs/contract.md#masking). */
export function shownConfig(
  kind: ContractKind,
  config: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown = (field: string, value: unknown): unknown => {
    if (field === kind.secretAddress && value !== kind.defaults[field]) return shownAddress(String(value));
    if (!kind.secrets.includes(field)) return value;
    return field === 'password' ? '********' : shownSecret(String(value));
  };
  return Object.fromEntries(
    Object.entries({ ...kind.defaults, ...config }).map(([field, value]) => [field, shown(field, value)]),
  );
}

function shownAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return ['/', '/v1/traces'].includes(pathname) ? address : `${origin}/****`;
}

function shownSecret(secret: string): string {
  return secret.length < 12 ? '****' : `${secret.slice(0, 4)}...${secret.slice(-4)}`;
}
