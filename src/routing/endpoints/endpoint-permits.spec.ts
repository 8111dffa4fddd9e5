// Places go to the account that has the fewest, and in it to the call that has the fewest; none is lost or given twice.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import { EndpointPermits } from './endpoint-permits.js';
import type { Permit } from '../../concurrency/semaphore.js';
import type { PermitOwner } from './endpoint-permits.js';

const LATER = performance.now() + 3_600_000;

/** One call of the account. */
const callOf = (accountId: string): PermitOwner => ({ accountId });

const labs: Lab[] = [];
afterEach(() => {
  for (const { waiting } of labs.splice(0)) for (const signal of waiting) signal.abort();
});

/** Requests permits and records their owners in order. */
class Lab {
  readonly permits = new EndpointPermits();
  readonly served: PermitOwner[] = [];
  readonly held: Permit[] = [];
  /** The signals of those that wait. */
  readonly waiting = new Set<Cancellation>();

  constructor(private readonly limit: number) {
    labs.push(this);
  }

  take(owner: PermitOwner, count = 1): void {
    for (let permit = 0; permit < count; permit++) {
      const signal = new Cancellation();
      const taken = this.permits.tryAcquire(this.limit, owner);
      if (taken) this.note(owner, taken);
      else void this.wait(owner, signal);
    }
  }

  /** Releases the oldest permit. */
  async release(): Promise<void> {
    this.held.shift()?.release();
    await nextTurn();
  }

  private async wait(owner: PermitOwner, signal: Cancellation): Promise<void> {
    this.waiting.add(signal);
    const permit = await this.permits.wait(owner, LATER, signal);
    this.waiting.delete(signal);
    if (permit) this.note(owner, permit);
  }

  private note(owner: PermitOwner, permit: Permit): void {
    this.served.push(owner);
    this.held.push(permit);
  }
}

describe('permits', () => {
  it('are taken while there are any, and never more than there are', () => {
    const permits = new EndpointPermits();
    const owner = callOf('a');
    const [first, second, third] = [1, 2, 3].map(() => permits.tryAcquire(2, owner));
    expect([first, second, third].map(Boolean)).toEqual([true, true, false]);
    first?.release();
    expect([1, 2].map(() => permits.tryAcquire(2, owner) !== null)).toEqual([true, false]);
  });

  it('go next to an account that has none, however many of another wait', async () => {
    const lab = new Lab(8);
    for (let call = 0; call < 100; call++) lab.take(callOf('large'), 8);
    const small = callOf('small');
    lab.take(small);
    await lab.release();
    expect(lab.served).toHaveLength(9);
    expect(lab.served.at(-1)).toBe(small);
  });

  it('are kept in part for accounts that have none, where there are many', () => {
    const lab = new Lab(256);
    for (let call = 0; call < 100; call++) lab.take(callOf('large'), 8);
    expect(lab.served).toHaveLength(240);
    for (let account = 0; account < 16; account++) lab.take(callOf(`small-${account}`));
    expect(lab.served).toHaveLength(256);
  });

  it('of an account go next to its call that has none, however many slices of its other calls wait', async () => {
    const lab = new Lab(8);
    const [large, small] = [callOf('a'), callOf('a')];
    lab.take(large, 100);
    lab.take(small);
    await lab.release();
    expect(lab.served.at(-1)).toBe(small);
    expect(lab.served).toHaveLength(9);
  });

  it('are shared equally by the calls of an account that all want more', async () => {
    const lab = new Lab(6);
    const calls = ['one', 'two', 'three'].map(() => callOf('a'));
    for (const call of calls) lab.take(call, 30);
    for (let tick = 0; tick < 30; tick++) await lab.release();
    expect(calls.map((call) => lab.served.slice(-18).filter((owner) => owner === call).length)).toEqual([
      6, 6, 6,
    ]);
  });

  const steps = fc.array(
    fc.oneof(
      fc.record({
        deed: fc.constant('come' as const),
        account: fc.constantFrom('a', 'b'),
        call: fc.nat(2),
      }),
      fc.record({ deed: fc.constantFrom('go' as const, 'cancel' as const), who: fc.nat(20) }),
    ),
    { maxLength: 60 },
  );

  it('are lost by no call, whichever comes, goes and is cancelled in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (deeds, limit) => {
        const lab = new Lab(limit);
        const calls = new Map(
          ['a', 'b'].map((account) => [account, [0, 1, 2].map(() => callOf(account))] as const),
        );
        for (const step of deeds) {
          if (step.deed === 'come') lab.take(calls.get(step.account)![step.call]!);
          else if (step.deed === 'go' && lab.held.length > 0)
            lab.held.splice(step.who % lab.held.length, 1)[0]?.release();
          else if (step.deed === 'cancel') [...lab.waiting][step.who % lab.waiting.size]?.abort();
          await nextTurn();
          expect(lab.held.length).toBeLessThanOrEqual(limit);
          if (lab.waiting.size > 0) expect(lab.held).toHaveLength(limit);
        }
        for (const signal of lab.waiting) signal.abort();
        while (lab.held.length > 0) await lab.release();
        const all = Array.from({ length: limit }, () => lab.permits.tryAcquire(limit, callOf('c')));
        expect(all.every(Boolean)).toBe(true);
      }),
    );
  });

  it('are not waited for beyond the deadline, nor by a call that has been cancelled before', async () => {
    const permits = new EndpointPermits();
    const owner = callOf('a');
    const cancelled = new Cancellation();
    cancelled.abort();
    const permit = permits.tryAcquire(1, owner);
    expect(await permits.wait(owner, performance.now() - 1, new Cancellation())).toBeNull();
    expect(await permits.wait(owner, LATER, cancelled)).toBeNull();
    permit?.release();
    expect(permits.tryAcquire(1, owner)).not.toBeNull();
  });

  it('are free again when the call that was next is cancelled at the same moment', async () => {
    const permits = new EndpointPermits();
    const owner = callOf('a');
    const cancellation = new Cancellation();
    const permit = permits.tryAcquire(1, owner);
    const wait = permits.wait(owner, LATER, cancellation);
    permit?.release();
    expect(permits.tryAcquire(1, owner)).toBeNull();
    cancellation.abort();
    expect(await wait).toBeNull();
    await nextTurn();
    expect([1, 2].map(() => permits.tryAcquire(1, owner) !== null)).toEqual([true, false]);
  });
});
