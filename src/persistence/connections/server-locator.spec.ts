import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NoServer, ServerLocator } from './server-locator.js';
import type { Probe } from './server-locator.js';

const TWO = 'postgresql://user@a,b/name';

/** By host: a timeline, null for one that accepts no writes, or the error of one that cannot be reached. */
let answers: Record<string, number | null | Error>;
let probed: string[];
/** Milliseconds until the time-out of each probe. */
let timeouts: number[];
let now: number;
beforeEach(() => {
  answers = { a: 1, b: null };
  probed = [];
  timeouts = [];
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const probe: Probe = ({ host }, _choice, timeout) => {
  probed.push(host);
  timeouts.push(timeout);
  const answer = answers[host] ?? null;
  return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
};
const located = async (locator: ServerLocator): Promise<string> => (await locator.locate()).host;
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('the locator of a server', () => {
  it('probes nothing where there is one', async () => {
    const locator = new ServerLocator('postgresql://user@a/name', probe);
    locator.suspect(await locator.locate());
    expect(await located(locator)).toBe('a');
    expect(probed).toEqual([]);
  });

  it('finds the one that accepts writes, once for all concurrent searches', async () => {
    answers = { a: null, b: 1 };
    const locator = new ServerLocator(TWO, probe);
    expect(await Promise.all([located(locator), located(locator)])).toEqual(['b', 'b']);
    expect(await located(locator)).toBe('b');
    expect(probed).toEqual(['a', 'b']);
  });

  it('takes the first of the list among those with the same timeline', async () => {
    answers = { a: 0, b: 0 };
    expect(await located(new ServerLocator(TWO, probe))).toBe('a');
  });

  it('takes one that states no timeline only while no server has stated one', async () => {
    answers = { a: refused, b: 2 };
    const locator = new ServerLocator(TWO, probe);
    const promoted = await locator.locate();
    answers = { a: 0, b: refused };
    locator.suspect(promoted);
    await expect(locator.locate()).rejects.toThrow(NoServer);
  });

  it('moves to the promoted standby when the primary is suspected', async () => {
    const locator = new ServerLocator(TWO, probe);
    locator.suspect(await locator.locate());
    expect(await located(locator)).toBe('a');
    answers = { a: refused, b: 2 };
    locator.suspect(await locator.locate());
    expect(await located(locator)).toBe('b');
  });

  it('takes the promoted one of two that accept writes', async () => {
    answers = { a: 1, b: 2 };
    expect(await located(new ServerLocator(TWO, probe))).toBe('b');
  });

  it('does not go back to an earlier primary when the promoted one is lost', async () => {
    answers = { a: refused, b: 2 };
    const locator = new ServerLocator(TWO, probe);
    const promoted = await locator.locate();
    answers = { a: 1, b: refused };
    locator.suspect(promoted);
    await expect(locator.locate()).rejects.toThrow(NoServer);
  });

  it('ignores the suspicion of a server that is not in use', async () => {
    const locator = new ServerLocator(TWO, probe);
    const earlier = await locator.locate();
    answers = { a: refused, b: 2 };
    locator.suspect(earlier);
    await locator.locate();
    const count = probed.length;
    locator.suspect(earlier);
    expect(await located(locator)).toBe('b');
    expect(probed).toHaveLength(count);
  });

  it('names every server when none can be used, and probes again after a quarter of a second', async () => {
    answers = { a: refused, b: null };
    const locator = new ServerLocator(TWO, probe);
    const reason = 'no server can be used: a:5432 connect ECONNREFUSED; b:5432 accepts no writes';
    await expect(locator.locate()).rejects.toThrow(reason);
    answers = { a: refused, b: 2 };
    await expect(locator.locate()).rejects.toThrow(reason);
    expect(probed).toHaveLength(2);
    now += 250;
    expect(await located(locator)).toBe('b');
  });

  it('waits longer after a search without an answer in time, until a server answers', async () => {
    const late: Probe = async (server, choice, timeout) => {
      const answer = await probe(server, choice, timeout);
      if (server.host === 'b') now += timeout;
      if (now < 31_000) throw new Error('timeout expired');
      return answer;
    };
    const locator = new ServerLocator(TWO, late);
    for (let search = 1; search <= 4; search++) {
      await expect(locator.locate()).rejects.toThrow(NoServer);
      now += 250;
    }
    const found = await locator.locate();
    expect(found.host).toBe('a');
    expect(timeouts.filter((_each, index) => index % 2 === 0)).toEqual([2_000, 4_000, 8_000, 16_000, 16_000]);
    answers = { a: null, b: 2 };
    locator.suspect(found);
    expect(await located(locator)).toBe('b');
    expect(timeouts.at(-1)).toBe(2_000);
  });

  it('waits no longer for a silent server while another answers', async () => {
    answers = { a: new Error('timeout expired'), b: null };
    const locator = new ServerLocator(TWO, (server, choice, timeout) => {
      if (server.host === 'a') now += timeout;
      return probe(server, choice, timeout);
    });
    for (let search = 1; search <= 3; search++) {
      await expect(locator.locate()).rejects.toThrow(NoServer);
      now += 250;
    }
    expect(new Set(timeouts)).toEqual(new Set([2_000]));
  });

  it('reports rejected credentials as they are', async () => {
    const rejected = Object.assign(new Error('password authentication failed'), { code: '28P01' });
    answers = { a: rejected, b: rejected };
    await expect(new ServerLocator(TWO, probe).locate()).rejects.toBe(rejected);
  });

  it('closes the connections to other servers when it moves', async () => {
    const locator = new ServerLocator(TWO, probe);
    const first = await locator.locate();
    const [hanging, closed] = [{ abandon: jest.fn() }, { abandon: jest.fn() }];
    locator.opened(hanging, first);
    locator.opened(closed, first);
    locator.closed(closed);
    locator.suspect(first);
    await locator.locate();
    expect(hanging.abandon).not.toHaveBeenCalled();
    answers = { a: refused, b: 2 };
    locator.suspect(first);
    await locator.locate();
    expect(hanging.abandon).toHaveBeenCalledTimes(1);
    expect(closed.abandon).not.toHaveBeenCalled();
  });
});
