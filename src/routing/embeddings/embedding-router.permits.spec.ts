// An endpoint without a free permit: skipped if another one can serve, else waited for.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createAnswer, createRouter } from '../../../test/support/routing/create-router.js';
import type { TestRouter } from '../../../test/support/routing/create-router.js';
import type { ProviderAnswer } from '../../providers/shared/provider.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { RoutedCall } from '../routed-call.js';

interface Asked {
  readonly index: number;
  readonly input: number;
  readonly answer: () => void;
  readonly fail: (failure: EndpointFailure) => void;
}

/** Endpoints with `permits` that answer on command. */
class Lab {
  readonly asked: Asked[] = [];
  /** The maximum in flight, by endpoint. */
  readonly most: number[] = [];
  readonly router: TestRouter;
  private readonly active: number[] = [];

  constructor(endpoints: number, permits: number) {
    this.router = createRouter(endpoints, (index, input, signal) => this.ask(index, input, signal), {
      endpointConcurrency: permits,
    });
  }

  /** Answers all requests until the work is done. */
  async answering(work: Promise<RoutedCall>): Promise<RoutedCall> {
    const state = { isDone: false };
    void work.finally(() => (state.isDone = true));
    for (let next = 0; !state.isDone;) {
      this.asked[next]?.answer();
      if (next < this.asked.length) next++;
      await nextTurn();
    }
    return work;
  }

  private async ask(
    index: number,
    input: number,
    signal: { addEventListener(type: 'abort', listener: () => void): void },
  ): Promise<ProviderAnswer> {
    const active = (this.active[index] ?? 0) + 1;
    this.active[index] = active;
    this.most[index] = Math.max(this.most[index] ?? 0, active);
    try {
      return await new Promise((resolve, reject) => {
        this.asked.push({ index, input, answer: () => resolve(createAnswer()), fail: reject });
        signal.addEventListener('abort', () => reject(new EndpointFailure('failed', null, 'given up')));
      });
    } finally {
      this.active[index] = active - 1;
    }
  }
}

const settled = async (): Promise<void> => {
  for (let tick = 0; tick < 5; tick++) await nextTurn();
};
const servers = ({ served }: RoutedCall) => served.map(({ target }) => target.provider.slug);
const endings = ({ attempts }: RoutedCall) => attempts.map(({ errorType }) => errorType ?? 'ok');

describe('the last endpoint', () => {
  it.each([1, 4, 8])(
    'is waited for by the slices of one call that exceed its %i permits',
    async (permits) => {
      const lab = new Lab(1, permits);
      const routed = await lab.answering(lab.router.run(16));
      expect(routed.error).toBeNull();
      expect(routed.served.map(({ start }) => start)).toEqual([...Array(16).keys()]);
      expect(endings(routed)).toEqual(Array(16).fill('ok'));
      expect(lab.most).toEqual([permits]);
    },
  );

  it('is waited for by many calls, and serves all of them', async () => {
    const lab = new Lab(1, 3);
    const calls = Promise.all(Array.from({ length: 20 }, () => lab.router.run(5)));
    const results = calls.then((all) => all.at(-1)!);
    await lab.answering(results);
    expect((await calls).map(({ error }) => error)).toEqual(Array(20).fill(null));
    expect(lab.most).toEqual([3]);
  });

  it('serves calls in order of arrival', async () => {
    const lab = new Lab(1, 1);
    const calls = [1, 2, 3].map((inputs) => lab.router.run(inputs));
    await settled();
    expect(lab.asked).toHaveLength(1);
    lab.asked[0]?.answer();
    await calls[0];
    await settled();
    lab.asked[1]?.answer();
    await settled();
    lab.asked[2]?.answer();
    await settled();
    // The second call's second input came after the third call's first.
    expect(lab.asked.map(({ input }) => input)).toEqual([0, 0, 0, 1]);
    await lab.answering(Promise.all(calls).then((all) => all[2]!));
  });

  it('serves a small call of another account next, however many large calls of one account wait', async () => {
    const lab = new Lab(1, 4);
    const large = Array.from({ length: 30 }, () => lab.router.run(20, { accountId: 'large' }));
    await settled();
    const small = lab.router.run(1, { accountId: 'small' });
    await settled();
    expect(lab.asked).toHaveLength(4);
    lab.asked[0]?.answer();
    await settled();
    // The fifth of 601.
    expect(lab.asked).toHaveLength(5);
    lab.asked[4]?.answer();
    expect((await small).error).toBeNull();
    await lab.answering(Promise.all(large).then((all) => all[0]!));
  });

  it('serves a small call next, however many slices of a large call of the same account wait', async () => {
    const lab = new Lab(1, 4);
    const large = [lab.router.run(100), lab.router.run(100)];
    await settled();
    const small = lab.router.run(1);
    await settled();
    // The second large call comes first, with one slice.
    for (const tick of [0, 1]) {
      lab.asked[tick]?.answer();
      await settled();
    }
    lab.asked[5]?.answer();
    expect((await small).error).toBeNull();
    await lab.answering(Promise.all(large).then((all) => all[0]!));
  });

  it('is waited for until the deadline of the call, which fails with a time-out and counts against no endpoint', async () => {
    const lab = new Lab(1, 1);
    const first = lab.router.run(1);
    const second = await lab.router.run(1, { time: 5 });
    expect(second.error).toMatchObject({ code: 'operation_timeout', status: 408 });
    expect(endings(second)).toEqual(['saturated']);
    expect(lab.router.health(0).uptime(performance.now())).toBeNull();
    lab.asked[0]?.answer();
    expect((await first).error).toBeNull();
    // A call that has left the queue gets no permit.
    expect((await lab.answering(lab.router.run(1))).error).toBeNull();
    expect(lab.asked).toHaveLength(2);
  });

  it('is no longer waited for when another slice of the call has failed for good', async () => {
    const lab = new Lab(1, 2);
    const other = lab.router.run(1);
    const call = lab.router.run(2);
    await settled();
    expect(lab.asked).toHaveLength(2);
    lab.asked[1]?.fail(new EndpointFailure('refused', 400, 'no'));
    expect((await call).error).toMatchObject({ code: 'provider_refused', metadata: { raw: 'no' } });
    lab.asked[0]?.answer();
    await other;
    await lab.answering(lab.router.run(2));
    expect(lab.asked).toHaveLength(4);
    expect(lab.most).toEqual([2]);
  });
});

describe('an endpoint before others', () => {
  it('is skipped at once when it has no free permit', async () => {
    const lab = new Lab(2, 1);
    const first = lab.router.run(1);
    const second = await lab.answering(lab.router.run(1)).finally(() => lab.asked[0]?.answer());
    expect(servers(second)).toEqual(['provider-1']);
    expect(endings(second)).toEqual(['saturated', 'ok']);
    expect(servers(await first)).toEqual(['provider-0']);
  });

  it.each([
    ['fails', new EndpointFailure('failed', 500, 'down')],
    ['does not support the request', new EndpointFailure('unsupported', null, 'no images')],
  ])('is waited for after all when the next one %s', async (_name, failure) => {
    const lab = new Lab(2, 1);
    const first = lab.router.run(1);
    const second = lab.router.run(1);
    await settled();
    expect(lab.asked.map(({ index }) => index)).toEqual([0, 1]);
    lab.asked[1]?.fail(failure);
    await settled();
    expect(lab.asked).toHaveLength(2);
    lab.asked[0]?.answer();
    await first;
    expect(servers(await lab.answering(second))).toEqual(['provider-0']);
    expect(endings(await second)).toEqual(['saturated', failure.failureClass, 'ok']);
  });

  it('is waited for when no endpoint has a free permit, and a failure goes on to the next', async () => {
    const lab = new Lab(2, 1);
    const busy = [lab.router.run(1), lab.router.run(1)];
    const call = lab.router.run(1);
    await settled();
    lab.asked[0]?.answer();
    await settled();
    lab.asked[2]?.fail(new EndpointFailure('failed', 500, 'down'));
    lab.asked[1]?.answer();
    expect(servers(await lab.answering(call))).toEqual(['provider-1']);
    expect(endings(await call)).toEqual(['saturated', 'saturated', 'failed', 'ok']);
    await Promise.all(busy);
  });

  it('leaves its error to the caller when it does not support the request', async () => {
    const lab = new Lab(2, 1);
    const first = lab.router.run(1);
    const second = lab.router.run(1);
    await settled();
    lab.asked[1]?.fail(new EndpointFailure('unsupported', null, 'no images'));
    await settled();
    lab.asked[0]?.answer();
    await first;
    await settled();
    lab.asked[2]?.fail(new EndpointFailure('unsupported', null, 'no images here either'));
    expect((await second).error).toMatchObject({ message: 'Invalid request parameters: no images' });
  });
});
