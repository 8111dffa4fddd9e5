// The questions of the console's pages, with the values that the filled log has (test/support/database/growth-fill.mjs).
import { median } from '../support/statistics.ts';

const DAY_MS = 86_400_000;
const TIMES = 7;
const get = (name, path) => ({ name, method: 'GET', path });
const ask = (name, body) => ({ name, method: 'POST', path: '/analytics/query', body });

const iso = (time) => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** `workspace` and `hash` are those of the measured account. */
function questionsOf({ workspace, hash }) {
  const now = Date.now();
  const range = (days) => ({ start: iso(now - days * DAY_MS), end: iso(now + 1000) });
  const filters = [{ field: 'workspace', operator: 'eq', value: workspace }];
  const list = (query) => `/generations?limit=50&workspace_id=${workspace}${query}`;
  const sums = ['request_count', 'error_count', 'prompt_tokens', 'completion_tokens', 'total_usage'];
  const overview = [
    'request_count',
    'refused_count',
    'error_rate',
    'total_usage',
    'latency_p50',
    'latency_p95',
  ];
  const grouped = (name, dimensions, days = 30) =>
    ask(name, { metrics: sums, dimensions, filters, time_range: range(days), limit: 1000 });
  return [
    ask('Overview: figures of a day', { metrics: overview, filters, time_range: range(1) }),
    ask('Overview: figures of 89 days', { metrics: overview, filters, time_range: range(89) }),
    ask('Overview: chart of a day', {
      metrics: overview,
      granularity: 'hour',
      filters,
      time_range: range(1),
    }),
    ask('Overview: chart of 89 days', {
      metrics: overview,
      granularity: 'day',
      filters,
      time_range: range(89),
    }),
    grouped('Usage: a month by model', ['model']),
    grouped('Usage: a month by key', ['api_key_id']),
    grouped('Usage: a month by key and model', ['api_key_id', 'model']),
    grouped('Usage: a month by user', ['user']),
    ask('Usage: a month by workspace', { metrics: sums, dimensions: ['workspace'], time_range: range(30) }),
    ask('Usage: a month by day', { metrics: sums, granularity: 'day', filters, time_range: range(30) }),
    get('Generations', list('')),
    get('Generations of a key', list(`&api_key_hash=${hash}`)),
    get('Generations of a model', list('&model=model/3')),
    get('Generations of a user', list('&user_id=user-500')),
    get('Generations that failed', list('&status=error')),
    get('Generations of a session', list('&session_id=none')),
    get('Generations of one day', list(`&from=${iso(now - 15 * DAY_MS)}&to=${iso(now - 14 * DAY_MS)}`)),
    get('Refused calls', `/refusals?workspace_id=${workspace}`),
    get('Keys', `/keys?limit=100&workspace_id=${workspace}`),
    get('Keys by name', `/keys?limit=100&workspace_id=${workspace}&q=99`),
    get('One key', `/keys/${hash}`),
    get('Workspaces', '/workspaces?limit=100'),
    get('Destinations', `/observability/destinations?limit=100&workspace_id=${workspace}`),
    get('Deliveries of the destinations', `/observability/deliveries?workspace_id=${workspace}`),
    get('Audit log', '/audit?limit=50'),
    get('Alerts', '/notifications?limit=100'),
    get('System', '/system'),
    get('Activity of 30 days', '/activity'),
  ];
}

/** Milliseconds of each question: of the first answer, which fills caches, and median and longest of the next ones. */
export async function measureQuestions(service, places) {
  const measured = [];
  for (const { name, method, path, body } of questionsOf(places)) {
    const times = [];
    for (let time = 0; time <= TIMES; time++) {
      const begunAt = performance.now();
      await service.manage(method, path, body);
      times.push(performance.now() - begunAt);
    }
    measured.push({
      name,
      first: times[0],
      p50: median(times.slice(1)),
      longest: Math.max(...times.slice(1)),
    });
  }
  return measured;
}
