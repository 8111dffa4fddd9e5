// The other slices of a call after one fails, and the other endpoints.
import { describe, expect, it } from '@jest/globals';
import { createAnswer, createRouter } from '../../../test/support/routing/create-router.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';
import type { RoutedCall } from '../routed-call.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FailureClass } from '../failures/failure-classes.js';

/** The behaviour of an endpoint for an input: serves it, fails, or waits for cancellation. */
type Deed = 'serve' | 'wait' | EndpointFailure;

const fails = (kind: FailureClass, status: number | null, message: string = kind): EndpointFailure =>
  new EndpointFailure(kind, status, message);

const untilAborted = (signal: CancelSignal): Promise<never> =>
  new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(fails('failed', null, 'given up'))),
  );

/** Each list is an endpoint and its behaviour for the inputs 0, 1, 2 ...; endpoints are tried in order. */
async function run(...deeds: readonly (readonly Deed[])[]) {
  const asked: string[] = [];
  const router = createRouter(deeds.length, async (index, input, signal) => {
    asked.push(`${index}:${input}`);
    const deed = deeds[index]?.[input] ?? 'serve';
    if (deed === 'wait') return untilAborted(signal);
    if (deed === 'serve') return createAnswer();
    throw deed;
  });
  const routed = await router.run(deeds[0]?.length ?? 0);
  const uptimes = deeds.map((_deeds, index) => router.health(index).uptime(performance.now()));
  return { routed, asked, uptimes };
}

const unsupported = (message: string): EndpointFailure => fails('unsupported', null, message);
const unsupportedInput = (rule: string): EndpointFailure =>
  new EndpointFailure('unsupported', null, rule, { unsupported: { at: { index: 0, path: '' }, rule } });
const endings = ({ attempts }: RoutedCall) => attempts.map(({ errorType }) => errorType ?? 'ok');

describe('a slice that fails permanently', () => {
  it('cancels the slices in flight, and its failure is the error of the call', async () => {
    const { routed, asked } = await run(['wait', 'serve', fails('refused', 400, 'no'), 'wait']);
    expect(routed.error).toMatchObject({ code: 'provider_refused', metadata: { raw: 'no' } });
    expect(asked).toEqual(['0:0', '0:1', '0:2', '0:3']);
    expect(endings(routed)).toEqual(['ok', 'refused', 'cancelled', 'cancelled']);
  });

  it('keeps the slices that were served before, for their charge', async () => {
    const { routed } = await run(['wait', 'serve', fails('refused', 400)]);
    expect(routed.served.map(({ start }) => start)).toEqual([1]);
  });

  it('counts against its own endpoint only, and tries no other one for the slices that it cancels', async () => {
    const { asked, uptimes } = await run(['wait', fails('refused', 400)], []);
    expect(asked).toEqual(['0:0', '0:1']);
    expect(uptimes).toEqual([null, null]);
  });

  it('cancels slices that another endpoint has taken over', async () => {
    const overloaded = fails('overloaded', 503);
    const { routed, asked } = await run([overloaded, overloaded], ['wait', fails('refused', 400, 'no')]);
    expect(routed.error).toMatchObject({ code: 'provider_refused', metadata: { raw: 'no' } });
    expect(asked.toSorted()).toEqual(['0:0', '0:1', '1:0', '1:1']);
  });
});

describe('a slice that another endpoint can serve', () => {
  it('cancels none', async () => {
    const { routed, uptimes } = await run(['serve', fails('failed', 500), 'serve'], []);
    expect(routed.error).toBeNull();
    expect(routed.served.map(({ start, target }) => [start, target.provider.slug])).toEqual([
      [0, 'provider-0'],
      [1, 'provider-1'],
      [2, 'provider-0'],
    ]);
    expect(uptimes[0]).toBeLessThan(1);
  });
});

describe('an invalid response', () => {
  it.each([
    ['counts against the endpoint', 'broken', 0],
    ['does not count when the inputs or unknown members may be the reason', 'unusable', null],
  ] as const)('%s', async (_name, failureClass, uptime) => {
    const router = createRouter(1, () => Promise.reject(fails(failureClass, null)));
    const { error } = await router.run(1);
    expect(error).toMatchObject({ code: 'provider_error' });
    expect(router.health(0).uptime(performance.now())).toBe(uptime);
  });
});

it('keeps the usage of an invalid response beside the served slices', async () => {
  const usage = { promptTokens: 4, totalTokens: 4 };
  const broken = new EndpointFailure('broken', null, 'too short', { usage });
  const router = createRouter(2, async (index, input) => {
    if (index === 0 && input === 1) throw broken;
    return createAnswer();
  });
  const { served, wasted, error } = await router.run(2);
  expect(error).toBeNull();
  expect(served.map(({ target }) => target.provider.slug)).toEqual(['provider-0', 'provider-1']);
  expect(wasted).toMatchObject([{ start: 1, input: { items: ['1'] }, ...usage }]);
});

describe('the throughput of an endpoint', () => {
  it.each([
    ['all tokens', { totalTokens: 9, promptTokens: 5 }, true],
    ['those of the prompt', { totalTokens: null, promptTokens: 5 }, true],
    ['none', { totalTokens: null, promptTokens: null }, false],
  ])('is known when it reports %s: %p', async (_name, usage, isKnown) => {
    const router = createRouter(1, async () => ({ ...createAnswer(), ...usage }));
    await router.run(1);
    expect(router.health(0).throughput(performance.now()) !== null).toBe(isKnown);
  });
});

describe('an unsupported request', () => {
  it('goes to the next endpoint, and is no outage', async () => {
    const { routed, asked, uptimes } = await run([unsupported('image: no')], []);
    expect(routed.error).toBeNull();
    expect(endings(routed)).toEqual(['unsupported', 'ok']);
    expect(asked).toEqual(['0:0', '1:0']);
    expect(uptimes).toEqual([null, 1]);
  });

  it('returns the first error when no other endpoint supports it either', async () => {
    const { routed } = await run(
      ['serve', unsupportedInput('no image')],
      ['serve', unsupportedInput('no image here either')],
    );
    expect(routed.error).toMatchObject({
      code: 'invalid_request',
      message: 'Invalid request parameters: input[1]: no image',
      metadata: { provider_name: 'provider-0' },
    });
    expect(routed.served.map(({ start }) => start)).toEqual([0]);
  });

  it.each<[string, Deed, Deed]>([
    ['behind', unsupported('no'), fails('broken', 200)],
    ['before', fails('broken', 200), unsupported('no')],
  ])('hides its error when an endpoint %s supports it, and has failed', async (_name, first, second) => {
    const { routed } = await run([first], [second]);
    expect(routed.error).toMatchObject({ code: 'provider_error' });
  });

  it('hides its error when another provider rejects the request itself', async () => {
    const { routed, asked } = await run([unsupported('no')], [fails('refused', 422, 'never')], []);
    expect(routed.error).toMatchObject({ code: 'provider_refused', metadata: { raw: 'never' } });
    expect(asked).toEqual(['0:0', '1:0']);
  });
});

describe('members that an endpoint does not get', () => {
  it('are recorded once for each endpoint, however many slices it serves', async () => {
    const router = createRouter(2, async (index, input) => {
      if (index === 0 && input === 2) throw fails('failed', 500);
      return createAnswer();
    });
    const extra = { truncate: true, priority: 1, ['x'.repeat(5_000)]: 1 };
    const { attempts, served } = await router.run(4, { extra, members: { sent: ['truncate'], refused: [] } });
    const names = ['priority', expect.stringMatching(/^x{90,100}/)];
    const recorded = attempts.filter(({ droppedMembers }) => droppedMembers !== undefined);
    expect(recorded).toHaveLength(new Set(attempts.map(({ endpoint }) => endpoint)).size);
    for (const { droppedMembers } of [...recorded, ...served]) expect(droppedMembers).toEqual(names);
  });

  it('are absent where every member is sent', async () => {
    const { attempts, served } = await createRouter(1, async () => createAnswer()).run(1, {
      extra: { priority: 1 },
    });
    for (const one of [...attempts, ...served]) expect(one).not.toHaveProperty('droppedMembers');
  });
});
