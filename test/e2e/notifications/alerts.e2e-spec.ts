// Budget alerts of real calls: each threshold once a window, whatever limits change and however many replicas look.
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { CrossingReporter } from '../../../src/deliveries/notifications/crossing-reporter.js';
import { formatUsd, usdToNumber } from '../../../src/domain/spend/money.js';
import { RefusalReporter } from '../../../src/refusals/refusal-reporter.js';
import { RefusedLimits } from '../../../src/refusals/refused-limits.js';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import {
  call,
  COST_OF_A_CALL,
  createNotification,
  eventsOf,
  scanPast,
  startAlertReceiver,
  startWithAlerts,
  thresholdsOf,
  untilSent,
} from '../../support/deliveries/notifications.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';

const DAY = 86_400_000;

interface Crossing {
  readonly threshold: number;
  readonly subject: { readonly hash: string };
}

let setup: Setup;
let app: TestApp;
let replica: Setup;
let receiver: RunningReceiver;
beforeAll(async () => {
  setup = await startWithAlerts();
  app = setup.app;
  replica = await startWithAlerts({ databaseUrl: app.databaseUrl });
  receiver = await startAlertReceiver();
});
beforeEach(async () => {
  receiver.forget();
  await app.sql('DELETE FROM notification_rules');
});
afterAll(async () => {
  await replica.close();
  await setup.close();
  await receiver.close();
});

/** A key whose limit is worth so many calls. */
const createKey = (calls: number, overrides: Parameters<TestApp['createKey']>[0] = {}): Promise<TestKey> =>
  app.createKey({ limit: COST_OF_A_CALL * BigInt(calls), limitReset: 'daily', ...overrides });

const setLimit = (key: TestKey, calls: number) =>
  askFor(200, app, 'patch', `/keys/${key.record.hash}`, {
    body: { limit: usdToNumber(COST_OF_A_CALL * BigInt(calls)) },
  });

describe('a key', () => {
  it('is reported at each threshold, once, with its exact spend and a valid signature', async () => {
    // The verifier does not use the tests' clocks, and any replica may send.
    for (const { clock } of [app, replica.app]) clock.set(new Date().toISOString());
    const { id } = await createNotification(app, `${receiver.origin}/alerts`);
    const key = await createKey(10, { name: 'Search' });
    const seen: number[][] = [];
    for (let made = 1; made <= 10; made++) {
      expect(await call(app, key.secret)).toEqual([200]);
      await scanPast(app);
      seen.push(await thresholdsOf(app, id));
    }
    expect(seen.map((thresholds) => thresholds.length)).toEqual([0, 0, 0, 0, 1, 1, 1, 2, 2, 3]);
    expect(seen.at(-1)).toEqual([50, 80, 100]);
    await untilSent(app, id);

    const { data } = await askFor<{ data: { secret: string } }>(
      200,
      app,
      'get',
      `/notifications/${id}/signing-secret`,
    );
    const verifier = new Webhook(data.secret);
    const bodies = receiver.requests.map(({ bytes, headers }) =>
      verifier.verify(bytes, headers as Record<string, string>),
    );
    const day = app.clock.now().toISOString().slice(0, 10);
    expect(bodies).toEqual((await eventsOf(app, id)).map(({ payload }) => payload));
    expect(bodies[1]).toMatchObject({
      type: 'budget.threshold_reached',
      notification_id: id,
      data: {
        threshold: 80,
        reason: 'spend',
        subject: { type: 'api_key', hash: key.record.hash, name: 'Search', label: key.record.label },
        account_id: app.accountId,
        workspace_id: app.workspaceId,
        window: { interval: 'daily', starts_at: `${day}T00:00:00.000Z` },
        limit_usd: formatUsd(COST_OF_A_CALL * 10n),
        spend_usd: formatUsd(COST_OF_A_CALL * 8n),
        remaining_usd: formatUsd(COST_OF_A_CALL * 2n),
      },
    });
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(
      bodies.map((body) => (body as { id: string }).id),
    );
    expect(JSON.stringify(bodies)).not.toContain(key.secret);
  });

  it('is reported at the highest of several thresholds that it passes at once', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(10);
    await call(app, key.secret, 9);
    await scanPast(app);
    expect(await thresholdsOf(app, id)).toEqual([80]);
  });

  it('is not reported again when its limit is raised within the window, but in the next window', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(4);
    await call(app, key.secret, 2);
    await scanPast(app);
    await setLimit(key, 10);
    // 50 % for the second time, then 80 % for the first.
    await call(app, key.secret, 3);
    await scanPast(app);
    expect(await thresholdsOf(app, id)).toEqual([50]);
    await call(app, key.secret, 3);
    await scanPast(app);
    expect(await thresholdsOf(app, id)).toEqual([50, 80]);
    app.clock.advance(DAY);
    await call(app, key.secret, 5);
    await scanPast(app);
    expect(await thresholdsOf(app, id)).toEqual([50, 80, 50]);
  });

  it('with a limit for its life is reported again once the limit is raised above the former one', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(4, { limitReset: null });
    await call(app, key.secret, 2);
    await scanPast(app);
    for (const calls of [3, 4]) {
      await setLimit(key, calls);
      await call(app, key.secret, 0);
      await scanPast(app);
    }
    await setLimit(key, 6);
    await call(app, key.secret);
    await scanPast(app);
    expect(
      (await eventsOf(app, id)).map(({ payload: { data } }) => [data.threshold, data['limit_usd']]),
    ).toEqual([
      [50, formatUsd(COST_OF_A_CALL * 4n)],
      [50, formatUsd(COST_OF_A_CALL * 6n)],
    ]);
  });

  it('is reported once by replicas that look at the same time', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(10);
    await call(app, key.secret, 5);
    const { workspaceId, id: apiKeyId } = key.record;
    const owners = { keys: [{ workspaceId, apiKeyId }], workspaceIds: [], accountIds: [] };
    const looks = [app, replica.app].flatMap((one) =>
      Array.from({ length: 10 }, () => one.application.get(CrossingReporter).reportCalled(owners)),
    );
    await Promise.all([...looks, scanPast(app), scanPast(replica.app)]);
    expect(await thresholdsOf(app, id)).toEqual([50]);
  });

  it('is found by its counter after the positions of the log have jumped, as in a restored database', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(10);
    await call(app, key.secret, 8);
    await app.sql('UPDATE notification_scan SET scanned_before = 0');
    await scanPast(app);
    // The keys of other tests are found as well.
    const crossings = (await eventsOf(app, id)).flatMap(
      ({ payload: { data } }) => (data['crossings'] ?? [data]) as Crossing[],
    );
    const ofKey = crossings.filter(({ subject }) => subject.hash === key.record.hash);
    expect(ofKey.map(({ threshold }) => threshold)).toEqual([80]);
  });

  it('without calls, or with calls that authentication refuses, is not reported', async () => {
    const key = await createKey(10);
    await call(app, key.secret, 5);
    await scanPast(app);
    const { id } = await createNotification(app, receiver.origin);
    await askFor(200, app, 'patch', `/keys/${key.record.hash}`, { body: { disabled: true } });
    expect(await call(app, key.secret)).toEqual([401]);
    await scanPast(app);
    expect(await eventsOf(app, id)).toEqual([]);
  });
});

describe('a limit that refuses a call', () => {
  it('is reported as 100 %, although the spend is below it', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await app.createKey({
      limit: COST_OF_A_CALL * 9n + COST_OF_A_CALL / 2n,
      limitReset: 'monthly',
    });
    expect(await call(app, key.secret, 10)).toEqual([...Array<number>(9).fill(200), 402]);
    await scanPast(app);
    app.clock.advance(1);
    await app.application.get(RefusalReporter).flush();
    const events = await eventsOf(app, id);
    expect(events.map(({ payload: { data } }) => [data.threshold, data['reason']])).toEqual([
      [80, 'spend'],
      [100, 'call_refused'],
    ]);
    expect(events[1]?.payload.data).toMatchObject({
      spend_usd: formatUsd(COST_OF_A_CALL * 9n),
      remaining_usd: formatUsd(COST_OF_A_CALL / 2n),
    });
  });

  it('is not reported while it is far from spent: the call was too large for it', async () => {
    const { id } = await createNotification(app, receiver.origin);
    const key = await createKey(4);
    await call(app, key.secret);
    expect(await call(app, key.secret, 1, 'word '.repeat(200))).toEqual([402]);
    await app.application.get(RefusalReporter).flush();
    await scanPast(app);
    expect(await eventsOf(app, id)).toEqual([]);
  });
});

describe('a budget of a workspace', () => {
  it('is reported for each of its intervals, to the account and to the workspace alone', async () => {
    const { data: workspace } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Team', slug: 'team' },
    });
    const { data: other } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Other', slug: 'other' },
    });
    for (const [interval, calls] of [
      ['daily', 4n],
      ['monthly', 10n],
    ] as const) {
      await askFor(200, app, 'put', `/workspaces/${workspace.id}/budgets/${interval}`, {
        body: { limit_usd: usdToNumber(COST_OF_A_CALL * calls) },
      });
    }
    const ofAccount = await createNotification(app, receiver.origin);
    const ofWorkspace = await createNotification(app, receiver.origin, { workspace_id: workspace.id });
    const ofOther = await createNotification(app, receiver.origin, { workspace_id: other.id });
    const ofKeys = await createNotification(app, receiver.origin, { covers: ['keys'] });
    const key = await app.createKey({ workspaceId: workspace.id });
    await call(app, key.secret, 2);
    await scanPast(app);
    for (const { id } of [ofAccount, ofWorkspace]) {
      const events = await eventsOf(app, id);
      expect(
        events.map(({ payload: { data } }) => [data.threshold, data['subject'], data['window']]),
      ).toEqual([
        [
          50,
          { type: 'workspace', id: workspace.id, name: 'Team', slug: 'team' },
          expect.objectContaining({ interval: 'daily' }),
        ],
      ]);
    }
    for (const { id } of [ofOther, ofKeys]) expect(await eventsOf(app, id)).toEqual([]);
    // 403: the budget refuses the fifth call.
    expect(await call(app, key.secret, 3)).toEqual([200, 200, 403]);
    await scanPast(app);
    await app.application.get(RefusalReporter).flush();
    expect(new Set(await thresholdsOf(app, ofAccount.id))).toEqual(new Set([50, 100]));
  });

  it('is reported once when two of its intervals refuse, again after a failed report', async () => {
    const account = await app.createAccount();
    const { workspaceId, managementKey } = account;
    for (const interval of ['daily', 'weekly']) {
      await askFor(200, app, 'put', `/workspaces/${workspaceId}/budgets/${interval}`, {
        body: { limit_usd: usdToNumber(COST_OF_A_CALL * (interval === 'daily' ? 4n : 5n)) },
        key: managementKey,
      });
    }
    await call(app, account.apiKey, 4);
    await scanPast(app);
    const { id } = await createNotification(app, receiver.origin, {}, managementKey);
    const limits = (['daily', 'weekly'] as const).map(
      (window) => ({ kind: 'workspace', id: workspaceId, workspaceId, window }) as const,
    );
    // The timer of the reporter may come first.
    await app.application.get(RefusalReporter).flush();
    const refused = app.application.get(RefusedLimits);
    const report = jest
      .spyOn(app.application.get(CrossingReporter), 'reportRefusals')
      .mockRejectedValueOnce(new Error('the database is away'));
    refused.keep(limits);
    await app.application.get(RefusalReporter).flush();
    expect(report).toHaveBeenCalledTimes(1);
    refused.keep(limits);
    await app.application.get(RefusalReporter).flush();
    report.mockRestore();
    expect(refused.drain()).toEqual([]);
    const events = await eventsOf(app, id, managementKey);
    expect(
      events.map(({ payload: { data } }) => [
        data.threshold,
        (data['window'] as { interval: string }).interval,
      ]),
    ).toEqual(
      expect.arrayContaining([
        [100, 'daily'],
        [100, 'weekly'],
      ]),
    );
    expect(events).toHaveLength(2);
  });
});

describe('the credits of an account', () => {
  it('are reported by the share that is spent, and again after more were bought', async () => {
    const account = await app.createAccount();
    const buy = (calls: bigint) =>
      app.sql('UPDATE accounts SET credits = $2 WHERE id = $1', [
        account.accountId,
        formatUsd(COST_OF_A_CALL * calls),
      ]);
    await buy(4n);
    const { id } = await createNotification(app, receiver.origin, {}, account.managementKey);
    await call(app, account.apiKey, 2);
    await scanPast(app);
    await buy(6n);
    await call(app, account.apiKey);
    await scanPast(app);
    const events = await eventsOf(app, id, account.managementKey);
    expect(events.map(({ payload: { data } }) => data)).toEqual([
      expect.objectContaining({
        threshold: 50,
        subject: { type: 'credits' },
        workspace_id: null,
        account_id: account.accountId,
        window: { interval: 'lifetime', starts_at: null, ends_at: null },
        limit_usd: formatUsd(COST_OF_A_CALL * 4n),
      }),
      expect.objectContaining({ threshold: 50, limit_usd: formatUsd(COST_OF_A_CALL * 6n) }),
    ]);
  });
});

describe('the limits of an account', () => {
  it('are reported to no other account, and not by a rule that is switched off', async () => {
    const stranger = await app.createAccount();
    const ofStranger = await createNotification(app, receiver.origin, {}, stranger.managementKey);
    const off = await createNotification(app, receiver.origin, { enabled: false });
    const key = await createKey(2);
    await call(app, key.secret, 2);
    await scanPast(app);
    expect(await eventsOf(app, ofStranger.id, stranger.managementKey)).toEqual([]);
    expect(await eventsOf(app, off.id)).toEqual([]);
    const path = `/notifications/${off.id}/events`;
    expect((await ask(app, 'get', path, { key: stranger.managementKey })).status).toBe(404);
    // Switched on, it reports what the next call finds.
    await askFor(200, app, 'patch', `/notifications/${off.id}`, { body: { enabled: true } });
    await setLimit(key, 3);
    await call(app, key.secret);
    await scanPast(app);
    expect(await thresholdsOf(app, off.id)).toEqual([100]);
  });
});
