// Limits of guardrails: one for each key, and one for all keys of a member, exact on every replica.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { guardrailCounterId } from '../../../src/domain/guardrails/guardrail-counter.js';
import { defaultGuardrailId } from '../../../src/domain/guardrails/guardrail.js';
import { parseUsd, parseUsdPerMillion, usdToNumber } from '../../../src/domain/spend/money.js';
import { Database } from '../../../src/persistence/database/database.js';
import { rebuildSpend } from '../../../src/upkeep/spend-rebuild.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { underLoad } from '../../support/extent.js';
import { askFor } from '../../support/requests/admin.js';
import { recordRefusals } from '../../support/requests/refusals.js';
import {
  patternVector,
  sendJson,
  startStubUpstream,
  toBase64,
} from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

interface Key {
  readonly secret: string;
  readonly record: { readonly id: string; readonly hash: string };
}
interface Answer {
  readonly status: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly message: string;
}

const TEXT = 'The quick brown fox jumps over the lazy dog';
const TOKENS = countTokens(TEXT);
// text-embedding-3-large: 0.13 USD a million tokens.
const COST_OF_A_CALL = parseUsdPerMillion('0.13') * BigInt(TOKENS);
const PARALLEL_CALLS = underLoad(500);
const VECTOR = toBase64(patternVector(0, 3072));

let upstream: StubUpstream;
let app: TestApp;
let replica: TestApp;
let workspaceId: string;
let workspaces = 0;
beforeAll(async () => {
  upstream = await startStubUpstream((_request, response) =>
    sendJson(response, 200, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: VECTOR }],
      usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
    }),
  );
  const environment = {
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    RATE_LIMIT_CHANGES_PER_MINUTE: '10000',
  };
  app = await createTestApp({ environment });
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica?.close();
  await app?.close();
  await upstream?.close();
});
beforeEach(async () => {
  const slug = `limited-${++workspaces}`;
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: slug, slug },
  });
  workspaceId = data.id;
});

const createKey = (creatorUserId: string | null = null): Promise<Key> =>
  app.createKey({ workspaceId, creatorUserId });

/** Worth so many calls a day. */
async function createGuardrail(calls: number): Promise<string> {
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
    body: { name: 'Frugal', workspace_id: workspaceId, ...limitOf(calls) },
  });
  return data.id;
}

const limitOf = (calls: number) => ({
  limit_usd: usdToNumber(COST_OF_A_CALL * BigInt(calls)),
  reset_interval: 'daily',
});

const assignKeys = (id: string, ...keys: readonly Key[]) =>
  askFor(200, app, 'post', `/guardrails/${id}/assignments/keys`, {
    body: { key_hashes: keys.map(({ record }) => record.hash) },
  });

async function assignMember(id: string, userId: string): Promise<void> {
  await askFor(200, app, 'post', `/workspaces/${workspaceId}/members/add`, { body: { user_ids: [userId] } });
  await askFor(200, app, 'post', `/guardrails/${id}/assignments/members`, {
    body: { member_user_ids: [userId] },
  });
}

async function embed({ secret }: Key, on = app): Promise<Answer> {
  const { status, body } = await on.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${secret}`)
    .send({ model: 'openai/text-embedding-3-large', input: TEXT, encoding_format: 'base64' });
  const { error } = body as { error?: { message: string; metadata: Answer['metadata'] } };
  return { status, metadata: error?.metadata ?? {}, message: error?.message ?? '' };
}

const untilStatus = (key: Key, wanted: number, on = app): Promise<Answer> =>
  eventually(
    () => embed(key, on),
    ({ status }) => status === wanted,
  );

/** Calls in parallel over both replicas, then one by one until the limit refuses one. The number of served calls. */
async function useUp(keys: readonly Key[]): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: PARALLEL_CALLS }, (_value, index) =>
      embed(keys[index % keys.length]!, index % 2 === 0 ? app : replica),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  // 503: the money stayed reserved for as long as a call waits for it.
  expect([200, 403, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
  await eventually(
    async () => {
      const { status } = await embed(keys[0]!);
      statuses.push(status);
      return status;
    },
    (status) => status === 403,
  );
  return statuses.filter((status) => status === 200).length;
}

/** USD of the counter of a key or a member. */
async function counted(subject: 'api_key' | 'member', id: string) {
  const [row] = await app.sql<{ daily: string; total: string; reserved: string }>(
    'SELECT daily, total, reserved FROM guardrail_spend WHERE workspace_id = $1 AND id = $2',
    [workspaceId, guardrailCounterId(workspaceId, subject, id)],
  );
  return { daily: parseUsd(row!.daily), total: parseUsd(row!.total), reserved: parseUsd(row!.reserved) };
}

async function logged(...keys: readonly Key[]): Promise<bigint> {
  const [row] = await app.sql<{ cost: string }>(
    'SELECT coalesce(sum(cost), 0)::text AS cost FROM generations WHERE workspace_id = $1 AND api_key_id = ANY ($2)',
    [workspaceId, keys.map(({ record }) => record.id)],
  );
  return parseUsd(row!.cost);
}

describe('the limit of the guardrail of a key', () => {
  it('the limit of the guardrail of a key admits exactly the calls that it pays for, over two replicas, and names the guardrail that refuses (V25)', async () => {
    const key = await createKey();
    const id = await createGuardrail(17);
    await assignKeys(id, key);
    expect(await useUp([key])).toBe(17);
    expect((await counted('api_key', key.record.id)).daily).toBe(COST_OF_A_CALL * 17n);
    const refused = await embed(key);
    expect(refused).toMatchObject({
      status: 403,
      message: expect.stringMatching(/^Guardrail budget exceeded: .*daily limit of/),
      metadata: {
        error_type: 'permission_denied',
        limit_source: 'guardrail',
        limit_window: 'daily',
        limit_usd: usdToNumber(COST_OF_A_CALL * 17n),
        guardrail: { id, name: 'Frugal', scope: 'api_key' },
      },
    });
    await recordRefusals(app, replica);
    const reasons = await app.sql('SELECT DISTINCT reason FROM refusals WHERE api_key_id = $1', [
      key.record.id,
    ]);
    expect(reasons).toEqual([{ reason: 'guardrail' }]);
  });

  it('a key over the limit of its guardrail still reads itself and the models (V30)', async () => {
    const key = await createKey();
    await assignKeys(await createGuardrail(1), key);
    await untilStatus(key, 403);
    for (const path of ['key', 'models', 'models/user', 'embeddings/models', 'providers'])
      for (const on of [app, replica]) await askFor(200, on, 'get', `/${path}`, { key: key.secret });
    expect((await embed(key)).status).toBe(403);
  });

  it('a limit that is lowered below the spend refuses calls at another replica within two seconds (V29)', async () => {
    const key = await createKey();
    const id = await createGuardrail(100);
    await assignKeys(id, key);
    for (const on of [app, replica, replica]) expect((await embed(key, on)).status).toBe(200);
    await askFor(200, app, 'patch', `/guardrails/${id}`, { body: limitOf(2) });
    const changedAt = performance.now();
    const refused = await untilStatus(key, 403, replica);
    expect(performance.now() - changedAt).toBeLessThan(2_000);
    expect(refused.metadata).toMatchObject({ limit_source: 'guardrail' });
  });

  it('is one for each key', async () => {
    const [one, other] = [await createKey(), await createKey()];
    await assignKeys(await createGuardrail(1), one, other);
    expect((await untilStatus(one, 403)).metadata).toMatchObject({ limit_source: 'guardrail' });
    expect((await embed(other)).status).toBe(200);
    await untilStatus(other, 403);
  });

  it('is in force at a replica that has cached its callers, when it is lowered and when it ends', async () => {
    const key = await createKey();
    const id = await createGuardrail(100);
    await assignKeys(id, key);
    expect((await embed(key, replica)).status).toBe(200);
    await askFor(200, app, 'patch', `/guardrails/${id}`, { body: limitOf(1) });
    await untilStatus(key, 403, replica);
    await askFor(200, app, 'patch', `/guardrails/${id}`, { body: { limit_usd: null, reset_interval: null } });
    await untilStatus(key, 200, replica);
    await askFor(200, app, 'patch', `/guardrails/${id}`, { body: limitOf(1) });
    await untilStatus(key, 403, replica);
    await askFor(200, app, 'post', `/guardrails/${id}/assignments/keys/remove`, {
      body: { key_hashes: [key.record.hash] },
    });
    await untilStatus(key, 200, replica);
  });
});

describe('the limit of the guardrail of a member', () => {
  it('two replicas: the limit of a member is never passed by parallel calls over three keys (V26)', async () => {
    const keys = [await createKey('ann'), await createKey('ann'), await createKey('ann')];
    const other = await createKey('bob');
    const id = await createGuardrail(17);
    await assignMember(id, 'ann');
    await assignMember(id, 'bob');
    expect(await useUp(keys)).toBe(17);
    expect(await logged(...keys)).toBe(COST_OF_A_CALL * 17n);
    expect((await counted('member', 'ann')).daily).toBe(COST_OF_A_CALL * 17n);
    for (const key of keys)
      expect((await untilStatus(key, 403)).metadata['guardrail']).toEqual({
        id,
        name: 'Frugal',
        scope: 'member',
      });
    expect((await embed(other)).status).toBe(200);
  });

  it('counts the spend before its assignment, and that of keys that are created after it', async () => {
    const [kept, deleted] = [await createKey('ann'), await createKey('ann')];
    for (const key of [kept, deleted, deleted]) expect((await embed(key)).status).toBe(200);
    await askFor(200, app, 'delete', `/keys/${deleted.record.hash}`);
    const id = await createGuardrail(5);
    await assignMember(id, 'ann');
    expect((await counted('member', 'ann')).daily).toBe(COST_OF_A_CALL * 3n);
    const later = await createKey('ann');
    for (const key of [kept, later]) expect((await embed(key)).status).toBe(200);
    await untilStatus(kept, 403);
    await untilStatus(later, 403);
    expect((await counted('member', 'ann')).total).toBe(await logged(kept, deleted, later));
    // A counter without an assignment goes on: the next one finds it complete.
    const members = { body: { member_user_ids: ['ann'] } };
    await askFor(200, app, 'post', `/guardrails/${id}/assignments/members/remove`, members);
    await untilStatus(later, 200);
    await askFor(200, app, 'post', `/guardrails/${id}/assignments/members`, members);
    await untilStatus(later, 403);
    expect((await counted('member', 'ann')).total).toBe(await logged(kept, deleted, later));
  });

  it('the counter of a limit that is assigned during 20 calls equals the log, and its next window starts at 0 (V28)', async () => {
    const key = await createKey('ann');
    for (let calls = 0; calls < 7; calls++) expect((await embed(key)).status).toBe(200);
    const id = await createGuardrail(10);
    const inFlight = Array.from({ length: 20 }, (_value, index) =>
      embed(key, index % 2 === 0 ? app : replica),
    );
    await assignMember(id, 'ann');
    await Promise.all(inFlight);
    await untilStatus(key, 403);
    expect((await counted('member', 'ann')).total).toBe(await logged(key));
    const before = await logged(key);
    app.clock.advance(24 * 60 * 60 * 1_000);
    expect((await embed(key)).status).toBe(200);
    expect((await counted('member', 'ann')).daily).toBe(COST_OF_A_CALL);
    for (let calls = 1; calls < 10; calls++) expect((await embed(key, replica)).status).toBe(200);
    await untilStatus(key, 403);
    expect((await logged(key)) - before).toBe(COST_OF_A_CALL * 10n);
  });

  it('is corrected by a rebuild of the counters', async () => {
    const key = await createKey('ann');
    await assignMember(await createGuardrail(1_000), 'ann');
    for (let calls = 0; calls < 2; calls++) expect((await embed(key)).status).toBe(200);
    const before = await counted('member', 'ann');
    await app.sql('UPDATE guardrail_spend SET total = 0, daily = 0 WHERE workspace_id = $1', [workspaceId]);
    expect(await rebuildSpend(app.application.get(Database))).toMatchObject({ guardrail: 1 });
    expect(await counted('member', 'ann')).toEqual(before);
  });
});

it('the limits of guardrails are effective limits of keys, in the record and in the list', async () => {
  const [own, shared, free] = [await createKey(), await createKey('user_9'), await createKey()];
  await assignKeys(await createGuardrail(4), own);
  await assignMember(await createGuardrail(2), 'user_9');
  await untilStatus(own, 200);
  const limitOfRecord = async ({ record }: Key) => {
    const { data } = await askFor<{ data: Record<string, unknown> }>(200, app, 'get', `/keys/${record.hash}`);
    return data['effective_limit'];
  };
  const { data: listed } = await askFor<{ data: Record<string, unknown>[] }>(
    200,
    app,
    'get',
    `/keys?workspace_id=${workspaceId}`,
  );
  const ofGuardrail = { limit_source: 'guardrail', limit_window: 'daily' };
  const expected: [Key, unknown][] = [
    [own, { ...ofGuardrail, limit_usd: limitOf(4).limit_usd, remaining_usd: limitOf(3).limit_usd }],
    [shared, { ...ofGuardrail, limit_usd: limitOf(2).limit_usd, spend_usd: 0 }],
    [free, null],
  ];
  for (const [key, limit] of expected) {
    const read = await limitOfRecord(key);
    if (limit === null) expect(read).toBeNull();
    else expect(read).toMatchObject(limit as object);
    expect(listed.find(({ hash }) => hash === key.record.hash)?.['effective_limit']).toEqual(read);
  }
});

describe('the settings of a limit', () => {
  it.each([
    ['without an interval', { limit_usd: 1 }, 'reset_interval: is required'],
    ['without an amount', { reset_interval: 'daily' }, 'limit_usd: is required'],
    ['of nothing', { limit_usd: 0, reset_interval: 'daily' }, 'limit_usd: must be greater than 0'],
    ['with an unknown interval', { limit_usd: 1, reset_interval: 'yearly' }, 'reset_interval'],
  ])('a limit %s is 400', async (_name, members, message) => {
    const { error } = await askFor<{ error: { message: string } }>(400, app, 'post', '/guardrails', {
      body: { name: 'Frugal', workspace_id: workspaceId, ...members },
    });
    expect(error.message).toContain(message);
  });

  it('removing one of its two members is 400, and changes nothing', async () => {
    const id = await createGuardrail(1);
    await askFor(400, app, 'patch', `/guardrails/${id}`, { body: { limit_usd: null } });
    await askFor(400, app, 'patch', `/guardrails/${id}`, { body: { reset_interval: null } });
    const { data } = await askFor<{ data: object }>(200, app, 'get', `/guardrails/${id}`);
    expect(data).toMatchObject(limitOf(1));
  });

  it('the default guardrail of a workspace takes no limit: 400 names the budgets', async () => {
    const { error } = await askFor<{ error: { message: string } }>(
      400,
      app,
      'patch',
      `/guardrails/${defaultGuardrailId(workspaceId)}`,
      { body: limitOf(1) },
    );
    expect(error.message).toContain('a workspace has budgets');
  });
});
