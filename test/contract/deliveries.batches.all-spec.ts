// Batches of every destination kind that mix all cases, the largest contents among them, against a receiver with the
// platform's rules. deliveries.contract-spec.ts has each case alone.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryRequest } from '../../src/destination-kinds/shared/delivery.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import { tracesOfAllCases } from '../support/deliveries/trace-cases.js';
import { CONTEXT, deliver, deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';

describe.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
  'the requests of $type',
  ({ receiver }) => {
    const delivering = deliveringTo(receiver);
    const { limits } = delivering.kind.delivery;
    let running: RunningReceiver;

    beforeAll(async () => {
      running = await startReceiver(receiver);
    });
    afterEach(() => running.forget());
    afterAll(() => running.close());

    /** Halves batches like the sender, until each is within the kind's limits. */
    const batchesOf = async (traces: readonly GenerationTrace[]): Promise<(readonly GenerationTrace[])[]> => {
      const fits =
        traces.length <= limits.maxTraces &&
        (await encode(delivering, traces)).every(
          ({ body }) => Buffer.byteLength(body ?? '') <= limits.maxBytes,
        );
      if (fits || traces.length === 1) return [traces];
      const half = Math.ceil(traces.length / 2);
      return [...(await batchesOf(traces.slice(0, half))), ...(await batchesOf(traces.slice(half)))];
    };

    it('store unusual traces among ordinary ones', async () => {
      for (const batch of await batchesOf(tracesOfAllCases())) {
        for (const outcome of await deliver(delivering, batch, running))
          expect(outcome).toEqual({ outcome: 'delivered' });
        expect(running.stored).toEqual(batch.map(({ generationId }) => generationId));
        running.forget();
      }
    });

    it('are the same later, except dates and signatures in headers', async () => {
      const traces = tracesOfAllCases().slice(0, limits.maxTraces);
      const later = { ...CONTEXT, now: new Date(CONTEXT.now.getTime() + 3_600_000) };
      const first = await encode(delivering, traces);
      const second = await encode(delivering, traces, later);
      const lasting = ({ method, url, headers, body }: DeliveryRequest): unknown => ({
        method,
        url,
        headers: Object.keys(headers),
        body: body?.toString(),
      });
      expect(second.map(lasting)).toEqual(first.map(lasting));
    });
  },
);
