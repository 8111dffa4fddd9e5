// Budget alerts under test: calls of a known cost, rules that point at a receiver on loopback, and scans on request.
import { Injectable } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { BudgetScan } from '../../../src/deliveries/notifications/budget-scan.js';
import { NotificationSender } from '../../../src/deliveries/notifications/notification-sender.js';
import { parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { RefusalReporter } from '../../../src/refusals/refusal-reporter.js';
import { askFor } from '../requests/admin.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { embed, startWithUpstream } from '../requests/create-embedding.js';
import type { Setup } from '../requests/create-embedding.js';
import { DELIVERY_ENVIRONMENT } from './deliveries.js';
import { eventually } from '../eventually.js';
import { startReceiver } from '../receivers/receiver.js';
import type { RunningReceiver } from '../receivers/receiver.js';
import { patternVector, sendJson, toBase64 } from '../upstreams/stub-upstream.js';

const MODEL = 'openai/text-embedding-3-large';
const TEXT = 'The quick brown fox jumps over the lazy dog';
const TOKENS = countTokens(TEXT);
/** 0.13 USD a million tokens. */
export const COST_OF_A_CALL = parseUsdPerMillion('0.13') * BigInt(TOKENS);
const VECTOR = toBase64(patternVector(0, 3072));

@Injectable()
class IdleScan extends BudgetScan {
  override onApplicationBootstrap(): void {
    // No scan begins.
  }
}

@Injectable()
class IdleReporter extends RefusalReporter {
  override onApplicationBootstrap(): void {
    // No report begins.
  }
}

/** The app looks for reached thresholds when a test says so, and at no other moment. */
export const withoutScans = (testing: TestingModuleBuilder): TestingModuleBuilder =>
  testing
    .overrideProvider(BudgetScan)
    .useClass(IdleScan)
    .overrideProvider(RefusalReporter)
    .useClass(IdleReporter);

export async function startWithAlerts(options: Pick<TestAppOptions, 'databaseUrl'> = {}): Promise<Setup> {
  const setup = await startWithUpstream(DELIVERY_ENVIRONMENT, { ...options, override: withoutScans });
  setup.upstream.answerWith((_request, response) =>
    sendJson(response, 200, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: VECTOR }],
      usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
    }),
  );
  return setup;
}

export const startAlertReceiver = (): Promise<RunningReceiver> =>
  startReceiver({ check: () => ({ reply: { status: 204 }, stored: [] }) });

/** Calls one after the other; returns their statuses. */
export async function call(app: TestApp, secret: string, times = 1, input = TEXT): Promise<number[]> {
  const statuses: number[] = [];
  for (let made = 0; made < times; made++) {
    const { status } = await embed(app, { model: MODEL, input, encoding_format: 'base64' }, secret);
    statuses.push(status);
  }
  return statuses;
}

interface NotificationRecord {
  readonly id: string;
  readonly thresholds: readonly number[];
}

export async function createNotification(
  app: TestApp,
  url: string,
  overrides: Readonly<Record<string, unknown>> = {},
  key = app.managementKey,
): Promise<NotificationRecord> {
  const body = { name: 'Alerts', config: { url }, ...overrides };
  const { data } = await askFor<{ data: NotificationRecord }>(201, app, 'post', '/notifications', {
    body,
    key,
  });
  return data;
}

/** Looks for reached thresholds until the scan has passed every call. */
export async function scanPast(app: TestApp): Promise<void> {
  // Events of different scans have an order.
  app.clock.advance(1);
  await eventually(
    async () => {
      await app.application.get(BudgetScan).scan(0);
      const [row] = await app.sql<{ isPast: boolean }>(
        `SELECT scanned_before > coalesce((SELECT max(log_transaction) FROM generations), 0) AS "isPast"
         FROM notification_scan`,
      );
      return row?.isPast === true;
    },
    (isPast) => isPast,
  );
}

export interface ReportedEvent {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly payload: {
    readonly id: string;
    readonly type: string;
    readonly data: Readonly<Record<string, unknown>> & { readonly threshold: number };
  };
}

/** The events of a notification, oldest first. */
export async function eventsOf(app: TestApp, id: string, key = app.managementKey): Promise<ReportedEvent[]> {
  const path = `/notifications/${id}/events?limit=100`;
  const { data } = await askFor<{ data: ReportedEvent[] }>(200, app, 'get', path, { key });
  return data.toReversed();
}

export const thresholdsOf = async (app: TestApp, id: string): Promise<number[]> =>
  (await eventsOf(app, id)).map(({ payload }) => payload.data.threshold);

/** Sends what is due until no event of the notification is pending. */
export async function untilSent(app: TestApp, id: string, key = app.managementKey): Promise<ReportedEvent[]> {
  return eventually(
    async () => {
      await app.application.get(NotificationSender).poll();
      return eventsOf(app, id, key);
    },
    (events) => events.every(({ state }) => state !== 'pending'),
  );
}
