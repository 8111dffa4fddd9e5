// The life of a call's money: reserve, execute, settle, close, whatever becomes of the call.
import { describe, expect, it, jest } from '@jest/globals';
import {
  createRuns,
  failed,
  PRICE,
  ROUTE,
  served,
  TARGET,
} from '../../test/support/routing/embedding-runs.js';
import type { TestRuns } from '../../test/support/routing/embedding-runs.js';
import { createOwnCredential } from '../../test/support/routing/endpoints.js';
import { AppError } from '../domain/errors.js';
import type { RoutedCall } from '../routing/routed-call.js';
import type { WrittenAnswer } from './embedding-call.js';

interface Body {
  readonly data: readonly { readonly embedding: readonly number[]; readonly cached?: true }[];
  readonly usage: { readonly prompt_tokens: number; readonly cost: number };
}

const bodyOf = ({ pieces }: WrittenAnswer): Body => JSON.parse(Buffer.concat(pieces).toString()) as Body;
const marksOf = (answer: WrittenAnswer) => bodyOf(answer).data.map(({ cached }) => cached ?? false);

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (failure: unknown) => failure,
  );

const lengthOf = ({ length }: string): number => length;

/** One slice for each input. */
function eachServed(items: readonly string[]): RoutedCall {
  const slices = items.flatMap((item, start) => served([item], { start }).served);
  return { ...served(items), served: slices };
}

function expectClosed({ reservations }: TestRuns): void {
  expect(reservations.map(({ isClosed }) => isClosed)).toEqual(reservations.map(() => true));
}

describe('a served call', () => {
  it('is recorded and charged once, and its reservation goes to the log', async () => {
    const runs = createRuns((items) => Promise.resolve(served(items)));
    const answer = await runs.create({}, ['a', 'bb']);
    expect(bodyOf(answer)).toMatchObject({
      data: [{ embedding: [1, 0, 0, 1] }, { embedding: [2, 0, 0, 1] }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
    const [{ generation, releases } = { generation: null, releases: [] }] = runs.appended;
    expect(runs.appended).toHaveLength(1);
    expect(generation).toMatchObject({
      id: answer.generationId,
      status: 200,
      cost: 2n * PRICE,
      inputCount: 2,
      upstreamMs: 5,
      upstreamId: 'upstream-1',
    });
    expect(releases).toEqual(runs.reservations.flatMap(({ reservation }) => reservation.releases));
    expect(runs.published).toEqual(['workspace-1']);
    expectClosed(runs);
  });

  it('returns nothing before its record is committed', async () => {
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const runs = createRuns((items) => Promise.resolve(served(items)), { append: () => committed });
    let isAnswered = false;
    const answer = runs.create().then(() => (isAnswered = true));
    while (runs.appended.length === 0) await Promise.resolve();
    expect({ isAnswered, published: runs.published }).toEqual({ isAnswered: false, published: [] });
    commit();
    await expect(answer).resolves.toBe(true);
  });

  it('fails without publishing when its record cannot be committed', async () => {
    const away = new Error('the database is unreachable');
    const runs = createRuns((items) => Promise.resolve(served(items)), {
      append: () => Promise.reject(away),
    });
    const failure = await failureOf(runs.create({ wantsCache: true }));
    expect(failure).toMatchObject({ code: 'internal', generationId: runs.appended[0]?.generation.id });
    expect(runs.published).toEqual([]);
    expectClosed(runs);
    await expect(runs.create({ wantsCache: true })).rejects.toThrow();
    expect(runs.routed).toEqual([['a'], ['a']]);
  });

  it('charges at most the reservation, and reports the rest as unpaid', async () => {
    const runs = createRuns((items) =>
      Promise.resolve(served(items, { promptTokens: 5_000, totalTokens: 5_000 })),
    );
    await runs.create();
    const { bound } = runs.reservations[0]!.reservation;
    expect(runs.appended[0]?.generation).toMatchObject({ cost: bound!.cost, upstreamCost: 5_000n * PRICE });
    expect(runs.unpaid).toMatchObject([{ reason: 'over_reported', amount: 5_000n * PRICE - bound!.cost }]);
  });
});

describe('a call that reaches no provider', () => {
  it('is no generation when the limit is exhausted', async () => {
    const exhausted = new AppError('insufficient_credits');
    const runs = createRuns((items) => Promise.resolve(served(items)), { reserve: () => exhausted });
    await expect(runs.create()).rejects.toBe(exhausted);
    expect({ appended: runs.appended, routed: runs.routed }).toEqual({ appended: [], routed: [] });
  });

  it('leaves out shared endpoints when only their money is missing', async () => {
    const own = { ...TARGET, credential: createOwnCredential(0) };
    const route = { ...ROUTE, targets: [own, TARGET] };
    const targets: unknown[] = [];
    const runs = createRuns(
      (items, used) => {
        targets.push(used.targets);
        return Promise.resolve(served(items, { target: own }));
      },
      {
        route,
        reserve: (() => {
          let tries = 0;
          return () => (tries++ === 0 ? new AppError('insufficient_credits') : null);
        })(),
      },
    );
    await runs.create();
    expect(targets).toEqual([[own]]);
    expect(runs.appended[0]?.generation).toMatchObject({ isByok: true, cost: 0n });
  });
});

describe('a failed call', () => {
  const parts = (items: readonly string[]) => served(items.slice(0, 1)).served;

  it.each([
    ["a provider's failure", 'provider_error', 0n, ['failed_call']],
    ["the caller's own failure", 'invalid_request', PRICE, []],
  ] as const)('by %s (%s) charges %p for the served part', async (_name, code, cost, reasons) => {
    const error = new AppError(code, { inputIndex: 1 });
    const runs = createRuns((items) => Promise.resolve(failed(error, { served: parts(items) })));
    const failure = await failureOf(runs.create({}, ['a', 'b']));
    expect(failure).toMatchObject({ code, generationId: runs.appended[0]?.generation.id });
    expect(runs.appended).toMatchObject([
      { generation: { status: error.status, cost, upstreamCost: PRICE, dimensions: null } },
    ]);
    expect(runs.unpaid.map(({ reason }) => reason)).toEqual(reasons);
    expect(runs.published).toEqual(['workspace-1']);
    expectClosed(runs);
  });

  it('names the input by its index in the call, whatever the cache has answered', async () => {
    const runs = createRuns((items) =>
      Promise.resolve(
        items.includes('bad') ? failed(new AppError('invalid_request', { inputIndex: 0 })) : served(items),
      ),
    );
    await runs.create({ wantsCache: true }, ['a']);
    await expect(runs.create({ wantsCache: true }, ['a', 'bad'])).rejects.toMatchObject({ inputIndex: 1 });
    expect(runs.routed).toEqual([['a'], ['bad']]);
  });

  it('describes its routing only on request', async () => {
    const runs = createRuns(() => Promise.resolve(failed(new AppError('provider_error'))));
    await expect(runs.create()).rejects.toMatchObject({ routingMetadata: null });
    await expect(runs.create({ wantsRoutingMetadata: true })).rejects.toMatchObject({
      routingMetadata: { requested: ROUTE.model.id },
    });
  });
});

describe('a call with the cache on', () => {
  it('reserves and fetches only the inputs that the cache lacks, and shares what it has paid', async () => {
    const runs = createRuns((items) => Promise.resolve(served(items)));
    const first = await runs.create({ wantsCache: true }, ['a', 'a']);
    expect({ outcome: first.cacheOutcome, marks: marksOf(first) }).toEqual({
      outcome: 'partial',
      marks: [false, true],
    });
    const second = await runs.create({ wantsCache: true }, ['bb', 'a']);
    expect({ outcome: second.cacheOutcome, marks: marksOf(second) }).toEqual({
      outcome: 'partial',
      marks: [false, true],
    });
    const third = await runs.create({ wantsCache: true }, ['a', 'bb']);
    expect({ outcome: third.cacheOutcome, marks: marksOf(third) }).toEqual({
      outcome: 'hit',
      marks: [true, true],
    });
    expect(runs.routed).toEqual([['a'], ['bb']]);
    expect(runs.reservations).toHaveLength(2);
    expect(runs.appended.map(({ generation }) => generation.cost)).toEqual([PRICE, PRICE, 0n]);
    expect(runs.appended[2]).toMatchObject({ generation: { provider: 'openai' }, releases: [] });
  });

  it('shares one provider call with an identical call in flight', async () => {
    let serve = (): void => undefined;
    const isServed = new Promise<void>((resolve) => (serve = resolve));
    const runs = createRuns(async (items) => {
      await isServed;
      return served(items);
    });
    const both = [runs.create({ wantsCache: true }), runs.create({ wantsCache: true })];
    while (runs.routed.length === 0) await new Promise(setImmediate);
    serve();
    const answers = await Promise.all(both);
    expect(answers.map(marksOf)).toEqual([[false], [true]]);
    expect(runs.routed).toEqual([['a']]);
    expect(runs.appended.map(({ generation }) => generation.cost)).toEqual([PRICE, 0n]);
  });

  it('buys the inputs that the other call failed to fetch, with a second reservation', async () => {
    let fail = (): void => undefined;
    const hasFailed = new Promise<void>((resolve) => (fail = resolve));
    const runs = createRuns(async (items) => {
      if (runs.routed.length > 2) return served(items);
      if (items.includes('b')) return served(items);
      await hasFailed;
      return failed(new AppError('provider_error'));
    });
    const first = runs.create({ wantsCache: true }, ['a']);
    const second = runs.create({ wantsCache: true }, ['b', 'a']);
    while (runs.routed.length < 2) await new Promise(setImmediate);
    fail();
    await expect(first).rejects.toMatchObject({ code: 'provider_error' });
    expect(marksOf(await second)).toEqual([false, false]);
    expect(runs.routed).toEqual([['a'], ['b'], ['a']]);
    expect(runs.reservations).toHaveLength(3);
    const charged = runs.appended.at(-1);
    expect(charged).toMatchObject({ generation: { status: 200, cost: 2n * PRICE } });
    expect(charged?.releases).toHaveLength(2);
    expectClosed(runs);
  });

  it.each([
    ['before', ['bb', 'a']],
    ['after', ['a', 'bb']],
    ['around', ['bb', 'a', 'ccc']],
  ])(
    'keeps what its first fetch was served %s the inputs that a second one fails to fetch',
    async (_name, items) => {
      let fail = (): void => undefined;
      const hasFailed = new Promise<void>((resolve) => (fail = resolve));
      const runs = createRuns(async (wanted) => {
        if (!wanted.includes('a') || runs.routed.length > 3) return eachServed(wanted);
        await hasFailed;
        return failed(new AppError('provider_error'));
      });
      const first = runs.create({ wantsCache: true }, ['a']);
      const second = runs.create({ wantsCache: true }, items);
      while (runs.routed.length < 2) await new Promise(setImmediate);
      fail();
      await expect(first).rejects.toMatchObject({ code: 'provider_error' });
      await expect(second).rejects.toMatchObject({ code: 'provider_error' });
      const others = items.filter((item) => item !== 'a');
      expect(runs.routed).toEqual([['a'], others, ['a']]);
      const retried = await runs.create({ wantsCache: true }, items);
      expect(marksOf(retried)).toEqual(items.map(() => false));
      expect(bodyOf(retried).data.map(({ embedding }) => embedding[0])).toEqual(items.map(lengthOf));
      expect(runs.routed.slice(3)).toEqual([['a']]);
      expect(runs.appended.at(-1)).toMatchObject({
        generation: { cost: BigInt(items.length) * PRICE, upstreamCost: PRICE },
      });
    },
  );

  it('counts on the day of its second reservation', async () => {
    let fail = (): void => undefined;
    const hasFailed = new Promise<void>((resolve) => (fail = resolve));
    const runs = createRuns(
      async (items) => {
        if (runs.routed.length > 2 || items.includes('b')) return served(items);
        await hasFailed;
        return failed(new AppError('provider_error'));
      },
      {
        reserve: (count) => {
          if (count === 2) runs.clock.set('2026-11-19T00:00:01.000Z');
          return null;
        },
      },
    );
    runs.clock.set('2026-11-18T23:59:59.000Z');
    const first = runs.create({ wantsCache: true }, ['a']);
    const second = runs.create({ wantsCache: true }, ['b', 'a']);
    while (runs.routed.length < 2) await new Promise(setImmediate);
    const realNow = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + 60_000);
    const failedAt = performance.now();
    fail();
    await expect(first).rejects.toMatchObject({ code: 'provider_error' });
    const { generationId } = await second;
    const sinceFailure = performance.now() - failedAt;
    later.mockRestore();
    expect(runs.appended.map(({ generation }) => generation.createdAt.toISOString())).toEqual([
      '2026-11-18T23:59:59.000Z',
      '2026-11-19T00:00:01.000Z',
    ]);
    expect(runs.appended[1]?.generation.id).toBe(generationId);
    // Its duration begins there as well: a call that waited before does not end in the future.
    expect(runs.appended[1]?.generation.durationMs).toBeLessThanOrEqual(Math.round(sinceFailure));
  });

  it('bypasses the cache for members that may change vectors', async () => {
    const runs = createRuns((items) => Promise.resolve(served(items)));
    const request = {
      model: ROUTE.model.id,
      input: { form: 'texts' as const, items: ['a'] },
      encodingFormat: 'float' as const,
      extra: { truncate: 'END' },
    };
    for (const _call of [1, 2])
      expect(await runs.create({ wantsCache: true, request })).toMatchObject({ cacheOutcome: 'bypass' });
    expect(runs.routed).toEqual([['a'], ['a']]);
  });
});

it('keeps the answer in memory only while the permit has room for it', async () => {
  const overloaded = new AppError('overloaded');
  const runs = createRuns((items) => Promise.resolve(served(items)));
  const permit = {
    acquireBytes: () => {
      throw overloaded;
    },
  };
  await expect(runs.create({ permit })).rejects.toBe(overloaded);
  expect(runs.reservations).toEqual([]);
});
