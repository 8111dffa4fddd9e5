// POST /embeddings with X-Embedding-Cache: identical inputs in flight are requested once, and a failure affects its
// own call only.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as fc from '../../support/fast-check.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { EmbeddingCache } from '../../../src/embeddings/cache/embedding-cache.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import { SpendLimiter } from '../../../src/spend/spend-limiter.js';
import type { TestApp } from '../../support/app/app.js';
import {
  answerByText,
  CACHE_HEADER,
  embedCached,
  embeddingOf,
  marksOf,
  outcomeOf,
  REJECTED,
  spendOf,
  startWithTexts,
  usageOf,
  WIDTH,
} from '../../support/requests/cached-embedding.js';
import type { CachedSetup } from '../../support/requests/cached-embedding.js';
import { answerOf, embed, embeddingsOf, rejectWith, SMALL } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { underLoad } from '../../support/extent.js';
import type { StubHandler } from '../../support/upstreams/stub-upstream.js';

const COST_OF_A_TOKEN = parseUsd('0.02') / 1_000_000n;

// Nothing is cached: only inputs in flight are shared.
let setup: CachedSetup;
beforeAll(async () => {
  setup = await startWithTexts({ EMBEDDING_CACHE_BYTES: '0' });
});
afterEach(() => {
  jest.restoreAllMocks();
  setup.upstream.answerWith(answerByText);
  setup.takeInputs();
});
afterAll(() => setup.close());

interface Held {
  readonly arrived: Promise<void>;
  readonly letGo: () => void;
}

/** The first call is answered like this on release, all others as usual. */
function holdFirst(answer: StubHandler = answerByText): Held {
  let letGo = (): void => undefined;
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  const arrived = new Promise<void>((resolve) => {
    let isFirst = true;
    setup.upstream.answerWith(async (request, response) => {
      const handler = isFirst ? answer : answerByText;
      if (isFirst) {
        isFirst = false;
        resolve();
        await isFree;
      }
      await handler(request, response);
    });
  });
  return { arrived, letGo };
}

/** The first call that reserves does so on release. */
function holdFirstReservation(app: TestApp): Held {
  const limiter = app.application.get(SpendLimiter);
  const reserve = limiter.reserve.bind(limiter);
  let letGo = (): void => undefined;
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  const arrived = new Promise<void>((resolve) => {
    jest.spyOn(limiter, 'reserve').mockImplementationOnce(async (...call) => {
      resolve();
      await isFree;
      return reserve(...call);
    });
  });
  return { arrived, letGo };
}

/** Resolves when so many calls, from now on, have announced their inputs. */
function claims(count: number): () => Promise<unknown> {
  const claim = jest.spyOn(setup.app.application.get(EmbeddingCache), 'claim');
  return () =>
    eventually(
      async () => claim.mock.results.length,
      (claimed) => claimed >= count,
    );
}

describe('50 identical calls at once', () => {
  it('cause one provider call, which one of them pays', async () => {
    const key = await setup.app.createKey({ limit: COST_OF_A_TOKEN * 100n });
    const allClaimed = claims(50);
    const { arrived, letGo } = holdFirst();
    const input = ['one', 'two', 'one'];
    const calls = Array.from({ length: 50 }, () =>
      embedCached(setup.app, input, {}, key.secret).then((response) => response),
    );
    await Promise.all([arrived, allClaimed()]);
    letGo();
    const responses = await Promise.all(calls);
    expect(setup.takeInputs()).toEqual(['one', 'two']);
    const headers: Record<string, number> = {};
    for (const response of responses) {
      expect(embeddingsOf(response)).toEqual(input.map((text) => embeddingOf(text)));
      const header = String(response.headers[CACHE_HEADER.toLowerCase()]);
      headers[header] = (headers[header] ?? 0) + 1;
      const isPayer = header === 'partial';
      expect(answerOf(response).usage).toEqual(usageOf(isPayer ? 2 : 0));
      expect(marksOf(answerOf(response))).toEqual(isPayer ? [false, false, true] : [true, true, true]);
    }
    expect(headers).toEqual({ partial: 1, hit: 49 });
    expect(await spendOf(setup.app, key.record.id)).toEqual({
      counted: COST_OF_A_TOKEN * 2n,
      logged: COST_OF_A_TOKEN * 2n,
    });
    const [rows] = await setup.app.sql<{ count: string }>(
      'SELECT count(*) FROM generations WHERE api_key_id = $1 AND status = 200 AND input_count = 3',
      [key.record.id],
    );
    expect(rows).toEqual({ count: '50' });
  });

  it('need the money for one call', async () => {
    // One and a half times the token count of the text.
    const { secret } = await setup.app.createKey({ limit: (COST_OF_A_TOKEN * 3n) / 2n });
    const allClaimed = claims(50);
    const { arrived, letGo } = holdFirst();
    const calls = Array.from({ length: 50 }, () =>
      embedCached(setup.app, ['one'], {}, secret).then((response) => response.status),
    );
    await Promise.all([arrived, allClaimed()]);
    letGo();
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    expect(setup.takeInputs()).toEqual(['one']);
  });
});

describe('calls that overlap', () => {
  it('share the inputs in flight and request the others at the same time', async () => {
    const allClaimed = claims(3);
    const { arrived, letGo } = holdFirst();
    const first = outcomeOf(embedCached(setup.app, ['a', 'b']));
    await arrived;
    const second = outcomeOf(embedCached(setup.app, ['c', 'b']));
    await eventually(
      async () => setup.upstream.requests.length,
      (count) => count === 2,
    );
    const third = outcomeOf(embedCached(setup.app, ['b', 'c', 'a']));
    await allClaimed();
    letGo();
    expect(await Promise.all([first, second, third])).toEqual([
      {
        vectors: ['a', 'b'].map((text) => embeddingOf(text)),
        marks: [false, false],
        header: 'miss',
        usage: usageOf(2),
      },
      {
        vectors: ['c', 'b'].map((text) => embeddingOf(text)),
        marks: [false, true],
        header: 'partial',
        usage: usageOf(1),
      },
      {
        vectors: ['b', 'c', 'a'].map((text) => embeddingOf(text)),
        marks: [true, true, true],
        header: 'hit',
        usage: usageOf(0),
      },
    ]);
    expect(setup.takeInputs()).toEqual(['a', 'b', 'c']);
  });

  it('wait for no other workspace, and for no call without the header', async () => {
    const { arrived, letGo } = holdFirst();
    const first = outcomeOf(embedCached(setup.app, ['a']));
    await arrived;
    const { apiKey } = await setup.app.createAccount();
    expect(await outcomeOf(embedCached(setup.app, ['a'], {}, apiKey))).toMatchObject({ header: 'miss' });
    answerOf(await embed(setup.app, { model: SMALL, input: ['a'], dimensions: WIDTH }));
    letGo();
    expect(await first).toMatchObject({ header: 'miss' });
    expect(setup.takeInputs()).toEqual(['a', 'a', 'a']);
  });
});

describe('a call that fails', () => {
  it.each<[string, StubHandler]>([
    ['by the provider', rejectWith(400, { error: { message: 'no' } })],
    ['by its endpoint', rejectWith(410, {})],
  ])('with %s costs its waiting calls nothing but their own call', async (_name, failure) => {
    const key = await setup.app.createKey();
    const allClaimed = claims(3);
    const { arrived, letGo } = holdFirst(failure);
    const failing = embedCached(setup.app, ['a']).then((response) => response.status);
    await arrived;
    const waiting = [
      ['a', 'a'],
      ['b', 'a'],
    ].map((input) => outcomeOf(embedCached(setup.app, input, {}, key.secret)));
    await allClaimed();
    letGo();
    expect(await failing).toBeGreaterThanOrEqual(400);
    expect(await Promise.all(waiting)).toEqual([
      {
        vectors: [embeddingOf('a'), embeddingOf('a')],
        marks: [false, true],
        header: 'partial',
        usage: usageOf(1),
      },
      {
        vectors: [embeddingOf('b'), embeddingOf('a')],
        marks: [false, false],
        header: 'miss',
        usage: usageOf(2),
      },
    ]);
    expect(setup.takeInputs().map(String).toSorted()).toEqual(['a', 'a', 'a', 'b']);
    expect(await spendOf(setup.app, key.record.id)).toEqual({
      counted: COST_OF_A_TOKEN * 3n,
      logged: COST_OF_A_TOKEN * 3n,
    });
  });

  it('over its limit does not prevent calls with money from being served', async () => {
    const { arrived, letGo } = holdFirstReservation(setup.app);
    const allClaimed = claims(3);
    const { secret: poor } = await setup.app.createKey({ limit: 0n });
    const failing = embedCached(setup.app, ['a'], {}, poor).then((response) => response);
    await arrived;
    const waiting = [1, 2].map(() => outcomeOf(embedCached(setup.app, ['a'])));
    await allClaimed();
    letGo();
    expectError(await failing, 402);
    for (const outcome of await Promise.all(waiting))
      expect(outcome).toMatchObject({ vectors: [embeddingOf('a')], usage: usageOf(1) });
  });

  it('over its limit is recorded as such when another call has failed', async () => {
    const { secret: poor, record } = await setup.app.createKey({ limit: 0n });
    const allClaimed = claims(2);
    const { arrived, letGo } = holdFirst(rejectWith(400, { error: { message: 'no' } }));
    const failing = embedCached(setup.app, ['a']).then((response) => response);
    await arrived;
    const waiting = embedCached(setup.app, ['a'], {}, poor).then((response) => response);
    await allClaimed();
    letGo();
    expectError(await failing, 400);
    expectError(await waiting, 402);
    const rows = await setup.app.sql(
      'SELECT status, cost, provider, dimensions FROM generations WHERE api_key_id = $1',
      [record.id],
    );
    expect(rows).toEqual([{ status: 402, cost: '0.000000000000', provider: null, dimensions: null }]);
  });

  it('after a part of its vectors arrived shares none of them: it pays for none', async () => {
    const key = await setup.app.createKey();
    const allClaimed = claims(3);
    const { arrived, letGo } = holdFirst();
    const first = embedCached(setup.app, [REJECTED]).then((response) => response);
    await arrived;
    const second = embedCached(setup.app, ['a', REJECTED]).then((response) => response);
    await eventually(
      async () => setup.upstream.requests.length,
      (count) => count === 2,
    );
    const third = outcomeOf(embedCached(setup.app, ['a'], {}, key.secret));
    await allClaimed();
    letGo();
    expectError(await first, 400);
    expectError(await second, 400);
    expect(await third).toMatchObject({ header: 'miss', usage: usageOf(1) });
    expect(setup.takeInputs()).toEqual([REJECTED, 'a', REJECTED, 'a']);
  });

  it('to be recorded makes its waiting calls fetch for themselves, and leaves nothing cached', async () => {
    const log = setup.app.application.get(GenerationLog);
    jest.spyOn(log, 'append').mockRejectedValueOnce(new Error('the log is full'));
    const allClaimed = claims(2);
    const { arrived, letGo } = holdFirst();
    const failing = embedCached(setup.app, ['a']).then((response) => response);
    await arrived;
    const waiting = outcomeOf(embedCached(setup.app, ['a']));
    await allClaimed();
    letGo();
    expectError(await failing, 500);
    expect(await waiting).toMatchObject({ header: 'miss', usage: usageOf(1) });
    expect(await outcomeOf(embedCached(setup.app, ['a']))).toMatchObject({ header: 'miss' });
  });

  it('may have used up the time of its waiting calls', async () => {
    const failure = rejectWith(400, { error: { message: 'no' } });
    const allClaimed = claims(2);
    const { arrived, letGo } = holdFirst(failure);
    const failing = embedCached(setup.app, ['a']).then((response) => response);
    await arrived;
    const asked = setup.upstream.requests.length;
    const waiting = embedCached(setup.app, ['a']).then((response) => response);
    await allClaimed();
    // Later provider calls never end, and the deadline, a minute away, is almost reached.
    setup.upstream.answerWith(() => undefined);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 59_900);
    letGo();
    await failing;
    expectError(await waiting, 408);
    expect(setup.upstream.requests.length).toBeLessThanOrEqual(asked + 1);
  });

  it('is awaited up to the deadline of the operation', async () => {
    const { arrived, letGo } = holdFirstReservation(setup.app);
    const slow = outcomeOf(embedCached(setup.app, ['a']));
    await arrived;
    // The deadline of the waiting call, a minute away, is almost reached. The call that it waits for keeps its own.
    const cache = setup.app.application.get(EmbeddingCache);
    const makeClaim = cache.claim.bind(cache);
    let remaining = 0;
    jest.spyOn(cache, 'claim').mockImplementationOnce((...call) => {
      const claim = makeClaim(...call);
      const takeFromOthers = claim.takeFromOthers.bind(claim);
      jest.spyOn(claim, 'takeFromOthers').mockImplementationOnce((deadline) => {
        remaining = deadline - performance.now();
        return takeFromOthers(deadline - 59_900);
      });
      return claim;
    });
    const response = await embedCached(setup.app, ['a']);
    expectError(response, 408);
    expect(response.headers['x-generation-id']).toMatch(/^gen-[0-9a-f]{32}$/);
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(60_000);
    letGo();
    expect(await slow).toMatchObject({ header: 'miss' });
  });
});

/** The upstream's charges: every request that it did not reject. */
function wordsServed(requests: readonly (readonly string[])[]): number {
  const served = requests.filter((inputs) => !inputs.includes(REJECTED)).flat();
  return served.reduce((sum, text) => sum + text.split(' ').length, 0);
}

describe('any mixture of calls, concurrent and consecutive', () => {
  const TEXTS = ['a', 'b', 'c', 'two words'];
  const call = fc.record({
    input: fc.array(fc.constantFrom(...TEXTS, ...TEXTS, REJECTED), { minLength: 1, maxLength: 6 }),
    isCached: fc.boolean(),
    dimensions: fc.constantFrom(WIDTH, WIDTH + 1),
  });
  const rounds = fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });

  it.each(['0', '3000', '1000000'])(
    'returns the vectors of uncached calls and pays every token once, with %s bytes of cache',
    async (EMBEDDING_CACHE_BYTES) => {
      const kept = await startWithTexts({ EMBEDDING_CACHE_BYTES });
      try {
        await fc.assert(
          fc.asyncProperty(rounds, async (asked) => {
            const key = await kept.app.createKey();
            let tokens = 0;
            for (const round of asked) {
              kept.takeInputs();
              const responses = await Promise.all(
                round.map(({ input, dimensions, isCached }) =>
                  embed(kept.app, { model: SMALL, input, dimensions }, key.secret).set(
                    CACHE_HEADER,
                    isCached ? 'on' : 'off',
                  ),
                ),
              );
              for (const [index, response] of responses.entries()) {
                const { input, dimensions } = round[index]!;
                if (input.includes(REJECTED)) {
                  expect(response.status).toBe(400);
                } else {
                  expect(embeddingsOf(response)).toEqual(input.map((text) => embeddingOf(text, dimensions)));
                  const bought = input.filter((_text, nth) => !marksOf(answerOf(response))[nth]);
                  const paid = bought.reduce((sum, text) => sum + text.split(' ').length, 0);
                  expect(answerOf(response).usage).toEqual(usageOf(paid));
                }
              }
              // Inputs that served a call whose own input failed later are paid for as well.
              tokens += wordsServed(kept.takeRequests());
            }
            const cost = BigInt(tokens) * COST_OF_A_TOKEN;
            expect(await spendOf(kept.app, key.record.id)).toEqual({ counted: cost, logged: cost });
          }),
          { numRuns: underLoad(40) },
        );
      } finally {
        await kept.close();
      }
    },
  );
});
