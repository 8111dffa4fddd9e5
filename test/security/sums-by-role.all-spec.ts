// Sums and series of calls by people of every role: /activity and analytics add up the calls within reach alone, before and after the log
// is summed up.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  UsageRollupRepository,
  UserRollupRepository,
} from '../../src/persistence/activity/activity-rollup.repository.js';
import { askAs } from '../support/app/people.js';
import { sumUp } from '../support/database/rollup-pass.js';
import { untilSummedUp } from '../support/database/rollups.js';
import { ALL_KEYS, CallsByRole, READS, ROLES, SHARED } from '../support/generations/calls-by-role.js';
import type { RoleName } from '../support/generations/calls-by-role.js';
import { askFor } from '../support/requests/admin.js';
import { expectError } from '../support/requests/error-shape.js';

const RANGE = { start: '2026-11-10T12:00:00Z', end: '2026-11-18T13:00:00Z' };

let setup: CallsByRole;
beforeAll(async () => {
  setup = await CallsByRole.create();
});
afterAll(() => setup.app.close());

interface Result {
  readonly data: {
    readonly data: readonly Readonly<Record<string, unknown>>[];
    readonly warnings: readonly string[];
  };
}

const SUMS = ['request_count', 'error_count', 'prompt_tokens', 'total_usage'];
const LATENCIES = ['latency_p50', 'latency_p95'];
const QUERIES: readonly (readonly [string, object])[] = [
  ['one total', { metrics: [...SUMS, ...LATENCIES, 'refused_count'] }],
  ['by key', { metrics: [...SUMS, ...LATENCIES, 'refused_count'], dimensions: ['api_key_id'] }],
  ['by workspace', { metrics: [...SUMS, ...LATENCIES], dimensions: ['workspace'] }],
  ['by model and provider', { metrics: [...SUMS, ...LATENCIES], dimensions: ['model', 'provider'] }],
  ['by key and model', { metrics: SUMS, dimensions: ['api_key_id', 'model'] }],
  ['by user', { metrics: SUMS, dimensions: ['user'] }],
  ['by user and key', { metrics: SUMS, dimensions: ['user', 'api_key_id'] }],
  ['by user and status', { metrics: SUMS, dimensions: ['user', 'status'] }],
  ['by status', { metrics: SUMS, dimensions: ['status', 'error_type'] }],
  ['by day', { metrics: [...SUMS, ...LATENCIES], granularity: 'day' }],
  ['by hour', { metrics: SUMS, granularity: 'hour', dimensions: ['model'] }],
  ['by week', { metrics: SUMS, granularity: 'week' }],
  ['by month', { metrics: SUMS, granularity: 'month' }],
  ['the most expensive', { metrics: SUMS, dimensions: ['model'], limit: 1 }],
  [
    'the slowest',
    { metrics: LATENCIES, dimensions: ['model'], order_by: { field: 'latency_p95', direction: 'desc' } },
  ],
  ['refused calls', { metrics: ['refused_count'], dimensions: ['api_key_id', 'refusal_reason'] }],
];

describe.each(['while nothing is summed', 'with sums'])('sums %s', (state) => {
  beforeAll(async () => {
    if (state === 'while nothing is summed') return;
    for (const rollup of [UsageRollupRepository, UserRollupRepository])
      await sumUp(setup.app, setup.app.application.get(rollup), { workspaces: 500, rows: 10_000 });
    await untilSummedUp(setup.app);
  });

  describe.each(ROLES.filter((name) => name !== 'idle'))('of the role %s', (name) => {
    beforeAll(async () => {
      await setup.giveOwnKeysTo(name);
    });

    const ofKeys = () => ({ field: 'api_key_id', operator: 'in', value: READS[name].map(setup.hashOf) });
    const filtersOf = (): readonly (readonly [string, object])[] => [
      ['no filter', {}],
      ['a workspace', { field: 'workspace', operator: 'eq', value: setup.second }],
      ['all but a workspace', { field: 'workspace', operator: 'neq', value: setup.second }],
      ['a model', { field: 'model', operator: 'eq', value: 'vendor/one' }],
      ['a user', { field: 'user', operator: 'eq', value: SHARED.userId }],
      ['all but a key', { field: 'api_key_id', operator: 'neq', value: setup.hashOf('secondOwn') }],
      ['keys', { field: 'api_key_id', operator: 'in', value: ALL_KEYS.map(setup.hashOf) }],
    ];

    it.each(QUERIES)('has in analytics %s those of its calls alone (T14)', async (_title, query) => {
      for (const [title, filter] of filtersOf()) {
        const isOfCalls =
          Object.hasOwn(filter, 'field') && ['model', 'user'].includes(Reflect.get(filter, 'field'));
        if (isOfCalls && JSON.stringify(query).includes('refus')) continue;
        const filters = Object.keys(filter).length === 0 ? [] : [filter];
        const body = { time_range: RANGE, ...query, filters };
        const response = await askAs(setup.people[name], setup.app, 'post', '/analytics/query', { body });
        expect([title, response.status, response.body]).toEqual([title, 200, response.body]);
        const withKeys = { ...body, filters: [...filters, ofKeys()] };
        const expected = await askFor<Result>(200, setup.app, 'post', '/analytics/query', { body: withKeys });
        const { data, warnings } = (response.body as Result).data;
        expect([title, data]).toEqual([title, expected.data.data]);
        const strangers =
          title === 'keys' ? ALL_KEYS.filter((key) => !READS[name].includes(key)).map(setup.hashOf) : [];
        const unknown = strangers.map((hash) => `api_key_id: no such key: ${hash}`);
        expect(warnings.filter((one) => !one.startsWith('workspace'))).toEqual(
          title === 'all but a key' && !READS[name].includes('secondOwn')
            ? [`api_key_id: no such key: ${setup.hashOf('secondOwn')}`]
            : unknown,
        );
      }
    });

    it('has in /activity those of its calls alone (T14)', async () => {
      for (const query of ['', '?group_by=workspace', `?workspace_id=${setup.second}`, '?date=2026-11-16']) {
        const rows = await setup.dataOf<ActivityRow[]>(name, `/activity${query}`);
        const expected: ActivityRow[] = [];
        for (const key of READS[name]) {
          const path = `/activity${query}${query === '' ? '?' : '&'}api_key_hash=${setup.hashOf(key)}`;
          const { data } = await askFor<{ data: ActivityRow[] }>(200, setup.app, 'get', path);
          expected.push(...data);
        }
        expect([query, totalsOf(rows)]).toEqual([query, totalsOf(expected)]);
      }
      for (const key of ALL_KEYS) {
        const response = await setup.get(name, `/activity?api_key_hash=${setup.hashOf(key)}`);
        expect(response.status).toBe(READS[name].includes(key) ? 200 : 404);
      }
      const ofOther = await setup.dataOf<ActivityRow[]>(name, `/activity?user_id=${setup.people.idle.id}`);
      expect(ofOther.length > 0).toBe(READS[name].includes('secondOther'));
    });
  });
});

interface ActivityRow {
  readonly date: string;
  readonly model: string;
  readonly workspace_id?: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly usage: number;
}

/** By day, model and workspace. */
function totalsOf(rows: readonly ActivityRow[]): Readonly<Record<string, readonly number[]>> {
  const totals: Record<string, [number, number, number]> = {};
  for (const { date, model, workspace_id: workspaceId, requests, prompt_tokens: tokens, usage } of rows) {
    const total = (totals[`${date} ${model} ${workspaceId ?? ''}`] ??= [0, 0, 0]);
    total[0] += requests;
    total[1] += tokens;
    total[2] += usage;
  }
  return totals;
}

it('rejects hours before the last 8 days where the role is for own keys alone', async () => {
  await setup.giveOwnKeysTo('developer');
  const body = {
    metrics: ['request_count'],
    granularity: 'hour',
    time_range: { start: '2026-11-01T00:00:00Z', end: RANGE.end },
  };
  const query = (name: RoleName) =>
    askAs(setup.people[name], setup.app, 'post', '/analytics/query', { body });
  expectError(await query('developer'), 400, /granularity: hour is for a time_range within the last 8 days/);
  expect((await query('viewer')).status).toBe(200);
});
