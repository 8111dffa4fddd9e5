// The questions of the console's pages, with the values that the filled log has (test/support/database/growth-fill.mjs).
import { median } from '../support/statistics.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Times that each question is asked, the first one not counted. */
const TIMES = 5;
const get = (name, path) => ({ name, method: 'GET', path });
const ask = (name, body) => ({ name, method: 'POST', path: '/analytics/query', body });

const iso = (time) => `${new Date(time).toISOString().slice(0, 19)}Z`;

const GROUPS = ['model', 'key', 'provider', 'user', 'workspace'];
const PAIRS = GROUPS.flatMap((one, position) => GROUPS.slice(position + 1).map((other) => [one, other]));
const DIMENSIONS = { key: 'api_key_id' };
const dimensionOf = (group) => DIMENSIONS[group] ?? group;

const SUMS = [
  'request_count',
  'error_count',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'byok_usage',
  'total_usage',
];
const FIGURES = ['request_count', 'refused_count', 'error_rate', 'total_usage', 'latency_p50', 'latency_p95'];
const TABLE = [
  'request_count',
  'error_rate',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_usage',
  'latency_p50',
  'latency_p95',
  'time_to_first_token_p50',
];

/** The ranges of the usage page: months as the console asks for them, own ranges of whole days. */
function periodsOf(now) {
  const date = new Date(now);
  const month = (offset) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
  const today = now - (now % DAY_MS);
  const tomorrow = today + DAY_MS;
  const periods = [
    ['this month', month(0), month(1)],
    ['last month', month(-1), month(0)],
    ['17 own days', today - 20 * DAY_MS, today - 3 * DAY_MS],
    ['30 days', today - 29 * DAY_MS, tomorrow],
    ['90 days', today - 89 * DAY_MS, tomorrow],
  ];
  return periods.map(([name, start, end]) => ({ name, time_range: { start: iso(start), end: iso(end) } }));
}

/** Of one range: `of` has values of the dimensions that a question chooses from. */
function usageQuestions({ name, time_range }, filters, of) {
  const order_by = { field: 'total_usage', direction: 'desc' };
  const grouped = (groups) =>
    ask(`Usage: ${name} by ${groups.join(' and ')}`, {
      metrics: SUMS,
      dimensions: groups.map(dimensionOf),
      filters: groups.includes('workspace') ? [] : filters,
      time_range,
      order_by,
      limit: 1000,
    });
  const daily = (what, more) =>
    ask(`Usage: ${name} by day${what}`, {
      metrics: SUMS,
      granularity: 'day',
      filters: [...filters, ...more],
      dimensions: more.map(({ field }) => field),
      time_range,
      limit: 1000,
    });
  const leaders = (field) => daily(` of five ${field}s`, [{ field, operator: 'in', value: of[field] }]);
  return [
    ...GROUPS.map((group) => grouped([group])),
    ...PAIRS.map(grouped),
    daily('', []),
    ...['model', 'api_key_id', 'user'].map(leaders),
  ];
}

/** `workspace` and `hashes` are those of the measured account. */
function questionsOf({ workspace, hashes: [hash, ...others] }) {
  const now = Date.now();
  const filters = [{ field: 'workspace', operator: 'eq', value: workspace }];
  const list = (query) => `/generations?limit=50&workspace_id=${workspace}${query}`;
  const keys = (query) => `/keys?limit=100&include_disabled=true&workspace_id=${workspace}${query}`;
  // By hour for some days, by day for more, to the end of the last period.
  const rangeOf = (days) => {
    const period = days > 7 ? DAY_MS : HOUR_MS;
    const end = now - (now % period) + period;
    return { start: iso(end - days * DAY_MS), end: iso(end) };
  };
  const overview = (name, days, more) =>
    ask(`Overview: ${name}`, {
      metrics: FIGURES,
      filters,
      time_range: rangeOf(days),
      ...more,
    });
  const table = (field, order) => ({
    metrics: TABLE,
    dimensions: [field],
    order_by: { field: order, direction: 'desc' },
    limit: 10,
  });
  const leaders = {
    model: Array.from({ length: 5 }, (_model, number) => `model/${number}`),
    api_key_id: others.slice(0, 5),
    user: Array.from({ length: 5 }, (_user, number) => `user-${number}`),
  };
  return [
    overview('figures of a day', 1),
    overview('figures of 30 days', 30),
    overview('figures of 89 days', 89),
    overview('chart of a day', 1, { granularity: 'hour' }),
    overview('chart of 89 days', 89, { granularity: 'day' }),
    overview('models of 30 days', 30, table('model', 'request_count')),
    overview('top keys of a day', 1, table('api_key_id', 'total_usage')),
    overview('top keys of 30 days', 30, table('api_key_id', 'total_usage')),
    overview('top keys of 89 days', 89, table('api_key_id', 'total_usage')),
    ...periodsOf(now).flatMap((period) => usageQuestions(period, filters, leaders)),
    get('Generations', list('')),
    get('Generations of a key', list(`&api_key_hash=${hash}`)),
    get('Generations of a key and a model that it never called', list(`&api_key_hash=${hash}&model=none`)),
    get('Generations of a model', list('&model=model/3')),
    get('Generations of a provider', list('&provider=openai')),
    get('Generations of a provider without calls', list('&provider=none')),
    get('Generations of a user', list('&user_id=user-500')),
    get('Generations of a user and a key', list(`&user_id=user-500&api_key_hash=${hash}`)),
    get('Generations of chats', list('&api_type=completions')),
    get('Generations that failed', list('&status=error')),
    get('Generations with status 429', list('&status=429')),
    get('Generations with an error type', list('&error_type=provider_error')),
    get('Generations of a session', list('&session_id=none')),
    get('Generations of one day', list(`&from=${iso(now - 15 * DAY_MS)}&to=${iso(now - 14 * DAY_MS)}`)),
    get('Refused calls', `/refusals?workspace_id=${workspace}`),
    get('Keys', keys('')),
    get('Keys by name', keys('&sort=name')),
    get('Keys by spend', keys('&sort=spend')),
    get('Keys by last use', keys('&sort=last_used')),
    get('Keys by expiry', keys('&sort=expires')),
    get('Keys with a part of a name', keys('&q=99')),
    ...['stopped', 'expiring', 'unused', 'disabled'].map((state) =>
      get(`Keys, ${state}`, keys(`&state=${state}`)),
    ),
    get('One key', `/keys/${hash}`),
    ask('One key: usage of 30 days by model', {
      ...table('model', 'request_count'),
      filters: [{ field: 'api_key_id', operator: 'eq', value: hash }],
      time_range: { start: iso(now - (now % DAY_MS) - 30 * DAY_MS), end: iso(now - (now % DAY_MS) + DAY_MS) },
    }),
    get('Workspaces', '/workspaces?limit=100'),
    get('Destinations', `/observability/destinations?limit=100&workspace_id=${workspace}`),
    get('Deliveries of the destinations', `/observability/deliveries?workspace_id=${workspace}`),
    get('Audit log', '/audit?limit=50'),
    get('Alerts', '/notifications?limit=100'),
    get('System', '/system'),
    get('Activity of 30 days', '/activity'),
  ];
}

/**
 * Milliseconds of each question: of the first answer, which fills caches, then the median and the processor time of the
 * database and the service in the next ones.
 */
export async function measureQuestions({ manage, countCpu, progress, pattern = /^/ }, places) {
  const measured = [];
  for (const { name, method, path, body } of questionsOf(places).filter((one) => pattern.test(one.name))) {
    const askFor = async () => {
      const begunAt = performance.now();
      try {
        await manage(method, path, body);
      } catch (error) {
        // The service ends statements that take too long.
        progress.line(`${name}: ${error.message}`);
      }
      return performance.now() - begunAt;
    };
    const first = await askFor();
    const before = countCpu();
    const times = [];
    while (times.length < TIMES) times.push(await askFor());
    const cpu = ((countCpu() - before) * 1000) / TIMES;
    measured.push({ name, first, p50: median(times), cpu });
    progress.line(`${name}: ${cpu.toFixed(0)} ms`);
  }
  return measured;
}
