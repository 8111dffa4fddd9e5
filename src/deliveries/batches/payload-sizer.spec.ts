// Traces are grouped by the size of earlier requests, and none is lost.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { webhook } from '../../destination-kinds/webhook.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { PayloadSizer } from './payload-sizer.js';

const MOST = webhook.delivery.limits.maxBytes;
const target = (version = 1): DeliveryTarget =>
  ({ kind: webhook, destination: { id: 'first', version } }) as unknown as DeliveryTarget;
const traceOf = (length: number, number = 1) =>
  generationTrace(number, { input: { items: ['x'.repeat(length)], isTruncated: false } });
const tracesOf = (lengths: readonly number[]) => lengths.map(traceOf);

describe('requests', () => {
  it('are one as long as no size is known', () => {
    const sizes = new PayloadSizer();
    const traces = tracesOf([1, 100_000, 2]);
    expect(sizes.split(target(), traces)).toEqual([traces]);
    sizes.note(target(), traces, 100 * MOST);
    expect(sizes.split(target(2), traces)).toEqual([traces]);
  });

  it('follow the last size, and become fewer when requests of this kind had room', () => {
    const sizes = new PayloadSizer();
    const webhookTarget = target();
    const traces = tracesOf(Array<number>(40).fill(9_000));
    sizes.note(webhookTarget, traces, 2 * MOST);
    // 40 take two of the largest requests: 18 fit into the target size.
    expect(sizes.split(webhookTarget, traces).map(({ length }) => length)).toEqual([18, 18, 4]);
    sizes.note(webhookTarget, traces.slice(0, 18), MOST / 4);
    expect(sizes.split(webhookTarget, traces)).toHaveLength(1);
  });

  it('shrink after a rejection by size, and grow again with every accepted request', () => {
    const sizes = new PayloadSizer();
    const webhookTarget = target();
    const traces = tracesOf(Array<number>(40).fill(9_000));
    const largest = () => sizes.split(webhookTarget, traces)[0]?.length;
    sizes.note(webhookTarget, traces, MOST);
    sizes.noteRejected(webhookTarget, MOST);
    expect(largest()).toBe(18);
    sizes.noteRejected(webhookTarget, MOST / 4);
    expect(largest()).toBe(4);
    // A larger request that was in flight.
    sizes.noteRejected(webhookTarget, MOST);
    expect(largest()).toBe(4);
    for (let taken = 0; taken < 40; taken++) sizes.noteAccepted(webhookTarget);
    expect(largest()).toBe(9);
    for (let taken = 0; taken < 400; taken++) sizes.noteAccepted(webhookTarget);
    expect(largest()).toBe(36);
  });

  it('keep what they learned when the destination is read again, until it changes', () => {
    const sizes = new PayloadSizer();
    const traces = tracesOf(Array<number>(40).fill(9_000));
    sizes.note(target(), traces, MOST);
    sizes.noteRejected(target(), MOST);
    expect(sizes.split(target(), traces)[0]).toHaveLength(18);
    sizes.note(target(2), traces, MOST);
    expect(sizes.split(target(2), traces)[0]).toHaveLength(36);
  });

  it('count tokens, and traces without input', () => {
    const sizes = new PayloadSizer();
    const webhookTarget = target();
    const tokens = generationTrace(1, {
      input: { items: [Array<number>(1_500).fill(12_345)], isTruncated: false },
    });
    const withoutInput = generationTrace(2, { input: null });
    sizes.note(webhookTarget, [withoutInput], MOST / 12);
    expect(sizes.split(webhookTarget, Array(11).fill(withoutInput))).toHaveLength(2);
    expect(sizes.split(webhookTarget, [tokens, tokens])).toHaveLength(2);
  });

  it('hold every trace once, in order, and are never empty', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 50_000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 100 * MOST }),
        (lengths, bytes) => {
          const sizes = new PayloadSizer();
          const webhookTarget = target();
          const traces = tracesOf(lengths);
          sizes.note(webhookTarget, traces, bytes);
          const parts = sizes.split(webhookTarget, traces);
          expect(parts.flat()).toEqual(traces);
          expect(parts.every(({ length }) => length > 0)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });
});
