// The panels of the dashboard as data: rows of panels with their queries.

const WINDOW = '$__rate_interval';
const rate = (metric, labels = '') => `rate(${metric}{job=~"$job"${labels}}[${WINDOW}])`;
const quantile = (share, metric, by = '', labels = '') =>
  `histogram_quantile(${share}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket`, labels)}))`;
const of = (metric) => `${metric}{job=~"$job"}`;
const query = (expression, legend) => ({ expression, legend });

const HTTP_DURATION = 'signalbox_http_request_duration_seconds';
const UPSTREAM_DURATION = 'signalbox_upstream_attempt_duration_seconds';
const CALLS = ',route=~"/api/v1/(embeddings|chat/completions)"';

/** A unit is a name of Grafana's. A query's legend names labels in braces. */
export const ROWS = [
  {
    title: 'Calls',
    panels: [
      {
        title: 'Calls a second',
        description: 'Model calls by status.',
        unit: 'reqps',
        queries: [query(`sum by (status) (${rate('signalbox_http_requests_total', CALLS)})`, '{{status}}')],
      },
      {
        title: 'Duration of calls',
        description: 'From the first header to the last byte, with the time of the provider.',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((share) =>
          query(quantile(share, HTTP_DURATION, '', CALLS), `p${share * 100}`),
        ),
      },
      {
        title: 'Errors a second',
        description:
          'By code. key_limit_exceeded, insufficient_credits and budget_exceeded are spend limits at work.',
        unit: 'reqps',
        queries: [query(`sum by (code) (${rate('signalbox_http_errors_total')})`, '{{code}}')],
      },
      {
        title: 'In flight and limit',
        description: 'The limit falls while the event loop is late.',
        unit: 'short',
        queries: [
          query(`sum by (group) (${of('signalbox_http_in_flight')})`, '{{group}}'),
          query(`sum(${of('signalbox_http_in_flight_limit')})`, 'limit'),
        ],
      },
      {
        title: 'Rejected by load shedding',
        description: '503 by the exhausted resource.',
        unit: 'reqps',
        queries: [
          query(`sum by (group, reason) (${rate('signalbox_http_refused_total')})`, '{{group}} {{reason}}'),
        ],
      },
      {
        title: 'Embedding cache',
        description: 'Inputs of calls that use the cache.',
        unit: 'ops',
        queries: [
          query(`sum by (outcome) (${rate('signalbox_embedding_cache_inputs_total')})`, '{{outcome}}'),
        ],
      },
    ],
  },
  {
    title: 'Providers',
    panels: [
      {
        title: 'Provider calls a second',
        description: 'By outcome.',
        unit: 'reqps',
        queries: [
          query(
            `sum by (provider, outcome) (${rate(`${UPSTREAM_DURATION}_count`)})`,
            '{{provider}} {{outcome}}',
          ),
        ],
      },
      {
        title: 'Duration of provider calls, p95',
        description: 'By provider.',
        unit: 's',
        queries: [query(quantile(0.95, UPSTREAM_DURATION, 'provider'), '{{provider}}')],
      },
      {
        title: 'Share of failed provider calls',
        description: 'Without calls that this service cancelled.',
        unit: 'percentunit',
        queries: [
          query(
            `sum by (provider) (${rate(`${UPSTREAM_DURATION}_count`, ',outcome!~"ok|cancelled"')}) / ` +
              `sum by (provider) (${rate(`${UPSTREAM_DURATION}_count`)})`,
            '{{provider}}',
          ),
        ],
      },
      {
        title: 'Waiting for a permit',
        description: 'Calls that wait because ENDPOINT_CONCURRENCY is used up.',
        unit: 'short',
        queries: [query(`sum by (provider) (${of('signalbox_upstream_waiting')})`, '{{provider}}')],
      },
      {
        title: 'Refused credentials',
        description: 'Credentials that a provider rejected.',
        unit: 'short',
        queries: [
          query(
            `sum by (provider, owner) (increase(${of('signalbox_upstream_refused_credentials_total')}[1h]))`,
            '{{provider}} {{owner}}',
          ),
        ],
      },
      {
        title: 'Unpaid upstream cost, USD an hour',
        description: "The part of providers' bills that no caller pays.",
        unit: 'currencyUSD',
        queries: [
          query(
            `sum by (provider, reason) (increase(${of('signalbox_unpaid_upstream_usd_total')}[1h]))`,
            '{{provider}} {{reason}}',
          ),
        ],
      },
    ],
  },
  {
    title: 'Deliveries',
    panels: [
      {
        title: 'Delivered a second',
        description: 'Generations that a destination confirmed.',
        unit: 'ops',
        queries: [query(`sum by (kind) (${rate('signalbox_broadcast_delivered_total')})`, '{{kind}}')],
      },
      {
        title: 'Lag, p95',
        description: 'From the end of a call to its confirmed delivery.',
        unit: 's',
        queries: [query(quantile(0.95, 'signalbox_broadcast_lag_seconds', 'kind'), '{{kind}}')],
      },
      {
        title: 'Failed attempts a second',
        description: 'retry: tried again soon; blocked: paused until a change.',
        unit: 'ops',
        queries: [
          query(
            `sum by (kind, class) (${rate('signalbox_broadcast_failed_attempts_total')})`,
            '{{kind}} {{class}}',
          ),
        ],
      },
      {
        title: 'Events lost',
        description: 'Selected generations that were not delivered, by reason. It should stay empty.',
        unit: 'short',
        queries: [
          query(
            `sum by (kind, reason) (increase(${of('signalbox_broadcast_dropped_total')}[1h]))`,
            '{{kind}} {{reason}}',
          ),
        ],
      },
      {
        title: 'Held back by a transaction',
        description: 'Age of the oldest open transaction of the database server.',
        unit: 's',
        queries: [query(`max(${of('signalbox_broadcast_held_back_seconds')})`, 'age')],
      },
      {
        title: 'Contents left out, calls above the log quota',
        description: 'Workspaces above their storage quotas.',
        unit: 'short',
        queries: [
          query(`sum(increase(${of('signalbox_contents_skipped_total')}[1h]))`, 'contents'),
          query(`sum(increase(${of('signalbox_log_quota_refused_total')}[1h]))`, 'calls'),
        ],
      },
    ],
  },
  {
    title: 'Database and processes',
    panels: [
      {
        title: 'Commit of calls, p99',
        description: 'The statement that appends generations and settles their cost.',
        unit: 's',
        queries: [query(quantile(0.99, 'signalbox_log_batch_duration_seconds'), 'p99')],
      },
      {
        title: 'Calls a commit',
        description: 'Calls that are committed by one statement.',
        unit: 'short',
        queries: [
          query(
            `sum(${rate('signalbox_log_batch_generations_sum')}) / sum(${rate('signalbox_log_batch_generations_count')})`,
            'mean',
          ),
        ],
      },
      {
        title: 'Database connections',
        description: 'Connections by state, and statements that wait for one.',
        unit: 'short',
        queries: [
          query(`sum by (state) (${of('signalbox_database_connections')})`, '{{state}}'),
          query(`sum(${of('signalbox_database_waiting')})`, 'waiting statements'),
        ],
      },
      {
        title: 'Event loop lag, p99',
        description: 'Above 0.1 s: more workers or replicas.',
        unit: 's',
        queries: [query(`max by (instance) (${of('nodejs_eventloop_lag_p99_seconds')})`, '{{instance}}')],
      },
      {
        title: 'Resident memory',
        description: 'All processes of a replica.',
        unit: 'bytes',
        queries: [query(`sum by (instance) (${of('process_resident_memory_bytes')})`, '{{instance}}')],
      },
      {
        title: 'CPU',
        description: 'Cores in use by a replica.',
        unit: 'short',
        queries: [query(`sum by (instance) (${rate('process_cpu_seconds_total')})`, '{{instance}}')],
      },
    ],
  },
  {
    title: 'Retention, history and notifications',
    panels: [
      {
        title: 'Days ahead',
        description: 'Following days for which the log has partitions; 4 at most.',
        unit: 'short',
        queries: [query(`min(${of('signalbox_log_days_ahead')})`, 'days')],
      },
      {
        title: 'Retention overdue',
        description: 'Time since the oldest partition should have been dropped.',
        unit: 's',
        queries: [query(`max by (table) (${of('signalbox_log_retention_overdue_seconds')})`, '{{table}}')],
      },
      {
        title: 'History lag',
        description: 'Time since which generations may be missing in the history; 0 without one.',
        unit: 's',
        queries: [query(`max(${of('signalbox_history_lag_seconds')})`, 'lag')],
      },
      {
        title: 'Notifications',
        description: 'Attempts to deliver reports of reached thresholds, by outcome.',
        unit: 'ops',
        queries: [
          query(`sum by (outcome) (${rate('signalbox_notification_attempts_total')})`, '{{outcome}}'),
        ],
      },
    ],
  },
];
