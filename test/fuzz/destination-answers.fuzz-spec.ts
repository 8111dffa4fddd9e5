// Answers to deliveries that are typical, corrupted and foreign: every kind returns a known outcome, with a short
// reason and no secret of its config.
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import type { DeliveryOutcome } from '../../src/destination-kinds/shared/delivery.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import { hostileText, hostileValue, corrupted } from '../support/fuzz/hostile-values.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { CONTEXT, deliveringTo, encode, secretsOf } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import type { ReceiverReply } from '../support/receivers/receiver.js';

const OUTCOMES: readonly DeliveryOutcome['outcome'][] = [
  'delivered',
  'retry',
  'too_large',
  'refused',
  'blocked',
  'continue',
];
const LONGEST_REASON = 400;
const counts = { answers: 0, delivered: 0 };
afterAll(() => reportCounts('answers of destinations', counts));

const bodyOf = ({ body }: ReceiverReply): unknown => {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
};
const headers = fc.dictionary(
  fc.constantFrom(
    'retry-after',
    'content-type',
    'location',
    'etag',
    'x-amz-request-id',
    'x-amz-bucket-region',
  ),
  fc.oneof(
    fc.constantFrom('0', '-1', '1e9', '99999999999', 'Thu, 01 Jan 1970 00:00:00 GMT', 'soon'),
    hostileText,
  ),
);

describe.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
  'an answer to $type',
  ({ type, receiver }) => {
    it(
      'has a known outcome',
      async () => {
        const delivering = deliveringTo(receiver);
        const { kind, config } = delivering;
        const requests = await encode(delivering, [generationTrace(1), generationTrace(2)]);
        const secrets = secretsOf(receiver);
        const known = [
          ...Object.values(receiver.failures),
          ...(receiver.partial ? [receiver.partial] : []),
        ].map(bodyOf);
        const asBytes = (values: fc.Arbitrary<unknown>) =>
          values.map((value) =>
            Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')),
          );
        const bodies = fc.oneof(
          { weight: 4, arbitrary: asBytes(corrupted(fc.constantFrom(...known))) },
          { weight: 2, arbitrary: asBytes(hostileValue) },
          { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
        );
        await tryOut(
          `an answer to ${type}`,
          share(1 / DESTINATION_RECEIVERS.length),
          fc.asyncProperty(
            fc.integer({ min: 200, max: 599 }),
            headers,
            bodies,
            async (status, given, body) => {
              for (const request of requests) {
                const outcome = await kind.delivery.read(
                  { status, headers: given, body },
                  request,
                  config,
                  CONTEXT,
                );
                counts.answers++;
                if (outcome.outcome === 'delivered') counts.delivered++;
                expect(OUTCOMES).toContain(outcome.outcome);
                if (status >= 300) expect(outcome.outcome).not.toBe('delivered');
                const reason = 'reason' in outcome ? (outcome.reason ?? '') : '';
                expect(reason.length).toBeLessThanOrEqual(LONGEST_REASON);
                expect(reason).not.toMatch(/\p{Cc}/u);
                expect(reason.isWellFormed()).toBe(true);
                for (const secret of secrets) expect(reason).not.toContain(secret);
                if (outcome.outcome === 'retry' && outcome.retryAfter !== undefined) {
                  expect(Number.isFinite(outcome.retryAfter) && outcome.retryAfter >= 0).toBe(true);
                }
              }
            },
          ),
        );
      },
      TEST_TIMEOUT,
    );
  },
);
