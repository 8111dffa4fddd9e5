// Every destination kind reads answers: those of its platform, those of any server, and garbage.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import type {
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
} from '../../src/destination-kinds/shared/delivery.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { CONTEXT, deliver, deliveringTo, encode, secretsOf } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { ReceiverReply, RunningReceiver } from '../support/receivers/receiver.js';

const TRACES = [generationTrace(1), generationTrace(2)];
const OUTCOMES = ['delivered', 'retry', 'too_large', 'refused', 'blocked', 'continue'];
const MAX_REASON = 400;
const ODD_BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '7',
  '{"partialSuccess":null}',
  '<html>',
  '\ufeff{}',
  '\0',
];

describe.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
  '$type',
  ({ receiver }) => {
    const delivering = deliveringTo(receiver);
    const { kind, config } = delivering;
    const secrets = secretsOf(receiver);
    let running: RunningReceiver;
    let requests: readonly DeliveryRequest[];

    beforeAll(async () => {
      running = await startReceiver(receiver);
      requests = await encode(delivering, TRACES);
    });
    afterEach(() => running.forget());
    afterAll(() => running.close());

    /** The outcome of a reply to each of the kind's requests. */
    const outcomesOf = async (reply: ReceiverReply): Promise<DeliveryOutcome[]> => {
      running.always(reply);
      return deliver(delivering, TRACES, running);
    };
    const expectAll = async (reply: ReceiverReply, outcome: object): Promise<void> => {
      expect(await outcomesOf(reply)).toEqual(requests.map(() => expect.objectContaining(outcome)));
    };
    const answer = (status: number, body: string | Uint8Array): DeliveryResponse => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
    });
    const expectReadable = async (response: DeliveryResponse): Promise<void> => {
      for (const request of requests) {
        const outcome = await kind.delivery.read(response, request, config, CONTEXT);
        expect(OUTCOMES).toContain(outcome.outcome);
        if (response.status >= 300) expect(outcome.outcome).not.toBe('delivered');
        const reason = 'reason' in outcome ? (outcome.reason ?? '') : '';
        expect(reason.length).toBeLessThanOrEqual(MAX_REASON);
        expect(reason).not.toMatch(/[\p{Cc}]/u);
        for (const secret of secrets) expect(reason).not.toContain(secret);
      }
    };

    it('blocks on a rejected credential', () =>
      expectAll(receiver.failures.unauthorized, { outcome: 'blocked', reason: expect.stringMatching(/\S/) }));

    it('respects Retry-After, in seconds and as a date', async () => {
      const { rateLimited } = receiver.failures;
      await expectAll(rateLimited, { outcome: 'retry' });
      const saying = (retryAfter: string): ReceiverReply => ({
        ...rateLimited,
        headers: { ...rateLimited.headers, 'retry-after': retryAfter },
      });
      await expectAll(saying('7'), { outcome: 'retry', retryAfter: 7 });
      const inAMinute = new Date(CONTEXT.now.getTime() + 60_000).toUTCString();
      await expectAll(saying(inAMinute), { outcome: 'retry', retryAfter: 60 });
    });

    it('retries a temporary failure', async () => {
      await expectAll(receiver.failures.unavailable, {
        outcome: 'retry',
        reason: expect.stringMatching(/\S/),
      });
      for (const status of [408, 425, 429, 500, 502, 503, 504, 520, 530])
        await expectAll({ status }, { outcome: 'retry' });
    });

    it.each([404, 405, 406, 410, 415, 426])(
      'pauses deliveries at %d, which answers every request',
      (status) =>
        expectAll({ status }, { outcome: 'blocked', reason: expect.stringContaining(String(status)) }),
    );

    it('reports 413 as too large', () => expectAll({ status: 413 }, { outcome: 'too_large' }));

    it.each([302, 303, 307, 308])('does not follow a redirect %d', async (status) => {
      await expectAll(
        { status, headers: { location: 'https://elsewhere.example.com/' } },
        { outcome: 'blocked', reason: expect.stringContaining(String(status)) },
      );
      expect(running.requests).toHaveLength(requests.length);
    });

    it('rejects a request that the platform does not understand', () =>
      expectAll({ status: 400 }, { outcome: 'refused' }));

    const { partial } = receiver;
    if (partial !== null) {
      it('counts dropped traces and does not send them again', async () => {
        const outcomes = await outcomesOf(partial);
        expect(outcomes).toContainEqual({
          outcome: 'delivered',
          rejected: expect.any(Number),
          reason: expect.stringMatching(/\S/),
        });
        expect(outcomes.filter(({ outcome }) => outcome !== 'delivered')).toEqual([]);
      });
    }

    it('treats a success with a cut body like one with a short body', async () => {
      const cut = `{"partialSuccess":{"errorMessage":"${'x'.repeat(1_048_540)}`;
      for (const request of requests) {
        for (const status of [200, 202]) {
          const read = (body: string) => kind.delivery.read(answer(status, body), request, config, CONTEXT);
          expect((await read(cut)).outcome).toBe((await read('{}')).outcome);
        }
      }
    });

    it('survives any answer, with any status and body', async () => {
      for (const status of [
        200, 201, 202, 204, 207, 299, 300, 304, 400, 401, 404, 409, 410, 422, 429, 500, 504, 599,
      ]) {
        for (const body of [...ODD_BODIES, 'x'.repeat(1_000_000)]) await expectReadable(answer(status, body));
      }
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 200, max: 599 }), fc.json(), (status, body) =>
          expectReadable(answer(status, body)),
        ),
        { numRuns: 100 },
      );
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 200, max: 599 }),
          fc.uint8Array({ maxLength: 64 }),
          (status, body) => expectReadable(answer(status, body)),
        ),
        { numRuns: 100 },
      );
    });

    it('survives any answer to the connection test', async () => {
      for (const step of await kind.delivery.probe(config, CONTEXT)) {
        for (const status of [200, 202, 204, 302, 400, 401, 403, 404, 429, 500]) {
          for (const body of ODD_BODIES) {
            const problem = step.problem(answer(status, body));
            expect(problem === null || problem.length <= MAX_REASON).toBe(true);
            for (const secret of secrets) expect(problem ?? '').not.toContain(secret);
          }
        }
      }
    });
  },
);
