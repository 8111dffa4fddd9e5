// For any sequence of charges, limits and days, reported by several processes: a threshold is reported once a window at
// most, never below its share, and never after a higher one.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { CrossingReporter } from '../../src/deliveries/notifications/crossing-reporter.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createNotification } from '../support/deliveries/notifications.js';

const RUNS = 25;
const DAY = 86_400_000;
const THRESHOLDS = [10, 50, 80, 100];

let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

type Step =
  | { readonly is: 'charge'; readonly amount: number }
  | { readonly is: 'limit'; readonly amount: number }
  | { readonly is: 'day' };

const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ is: fc.constant('charge' as const), amount: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ is: fc.constant('limit' as const), amount: fc.integer({ min: 1, max: 200 }) }),
  fc.constant({ is: 'day' as const }),
);

interface Reported {
  readonly subject: { readonly hash: string };
  readonly threshold: number;
  readonly spend_usd: string;
  readonly limit_usd: string;
  readonly window: { readonly starts_at: string | null };
}

it.each(['daily', 'monthly', null])('%s limits are reported once a window', async (limitReset) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const { id } = await createNotification(app, 'https://example.com', { thresholds: THRESHOLDS });
      const { record } = await app.createKey({
        limit: 100n * 10n ** 12n,
        limitReset: limitReset as 'daily' | 'monthly' | null,
      });
      const keys = [{ workspaceId: record.workspaceId, apiKeyId: record.id }];
      const values = (amount: number) => [record.workspaceId, record.id, app.clock.now(), amount];
      for (const one of steps) {
        // The ids of events begin with the time.
        app.clock.advance(1);
        if (one.is === 'day') app.clock.advance(DAY);
        if (one.is === 'limit') {
          await app.sql('UPDATE api_keys SET limit_amount = $2 WHERE id = $1', [record.id, one.amount]);
        }
        if (one.is === 'charge') {
          await app.sql(
            "SELECT settle_key_spend($1::uuid, $2::uuid, ($3::timestamptz AT TIME ZONE 'UTC')::date, $4::numeric, 0, 0)",
            values(one.amount),
          );
        }
        const looks = [app, replica].map((process) =>
          process.application.get(CrossingReporter).reportCalled({ keys, workspaceIds: [], accountIds: [] }),
        );
        await Promise.all(looks);
      }
      const rows = await app.sql<{ payload: string }>(
        'SELECT payload FROM notification_events WHERE rule_id = $1 ORDER BY id',
        [id],
      );
      await app.sql('DELETE FROM notification_rules');
      const events = rows.map(({ payload }) => (JSON.parse(payload) as { data: Reported }).data);
      // A scan of the background may report keys of earlier sequences to this rule.
      expectOnce(events.filter(({ subject }) => subject.hash === record.hash));
    }),
    { numRuns: RUNS },
  );
});

function expectOnce(events: readonly Reported[]): void {
  const highest = new Map<string, { threshold: number; limit: number }>();
  for (const { threshold, spend_usd: spend, limit_usd: limit, window } of events) {
    expect(Number(spend) * 100).toBeGreaterThanOrEqual(Number(limit) * threshold);
    const start = window.starts_at ?? 'ever';
    const before = highest.get(start) ?? { threshold: 0, limit: 0 };
    // A lifetime has a new window with each limit above the former ones.
    if (start !== 'ever' || Number(limit) <= before.limit)
      expect(threshold).toBeGreaterThan(before.threshold);
    highest.set(start, { threshold, limit: Math.max(before.limit, Number(limit)) });
  }
}
