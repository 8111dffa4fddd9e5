// Bytes on the socket of the built service that are not HTTP, nearly HTTP, or HTTP that two readers would understand
// differently.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import type { FuzzAnswer } from '../support/fuzz/findings.js';
import { startFuzzTarget } from '../support/fuzz/fuzz-target.js';
import type { FuzzCaller, FuzzTarget } from '../support/fuzz/fuzz-target.js';
import { exchangeRaw } from '../support/fuzz/raw-exchange.js';
import { rawRequests } from '../support/fuzz/raw-requests.js';

const SHARE = 0.2;
// No route answers like this: it would be the answer to a request within a request.
const SMUGGLED = '/api/v1/smuggled';
const AT_ONCE = 20;

const statuses = new Map<string, number>();
const count = (what: string): void => void statuses.set(what, (statuses.get(what) ?? 0) + 1);
let target: FuzzTarget;
let caller: FuzzCaller;
beforeAll(async () => {
  target = await startFuzzTarget(1);
  caller = await target.nextCaller();
});
afterAll(async () => {
  reportCounts('bytes on the socket', Object.fromEntries(statuses));
  await target.close();
});

const problemsOf = (answer: FuzzAnswer): string[] => {
  // An unreadable request has no method; a GET of an unknown path is checked by its shape only.
  const text = answer.body.toString('utf8');
  const isError = answer.status >= 400 && text !== '';
  return target.findings.problemsOf(isError ? 'GET' : 'HEAD', '/', answer);
};

describe('bytes', () => {
  it(
    'of any kind are answered as HTTP or not at all, and end the connection or leave it usable',
    async () => {
      const requests = rawRequests(caller.inferenceKey);
      await tryOut(
        'bytes',
        share(SHARE),
        fc.asyncProperty(requests, async (request) => {
          const { answers, rest, isClosed } = await exchangeRaw(target.origin, request);
          count(isClosed ? 'closed' : 'left open');
          for (const answer of answers) {
            count(`${Math.floor(answer.status / 100)}xx`);
            expect(problemsOf(answer)).toEqual([]);
          }
          if (isClosed && request.ending === 'finish') expect(rest).toBe('');
        }),
      );
    },
    TEST_TIMEOUT,
  );
});

describe('a request within a request', () => {
  const head = (...lines: string[]): string =>
    ['POST /api/v1/keys HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join(
      '\r\n',
    );
  const inner = `GET ${SMUGGLED} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const chunked = `0\r\n\r\n${inner}`;

  it.each([
    ['both lengths', head(`Content-Length: ${chunked.length}`, 'Transfer-Encoding: chunked') + chunked],
    ['both lengths, the other way round', head('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked],
    ['two lengths', head('Content-Length: 0', `Content-Length: ${inner.length}`) + inner],
    ['a list of lengths', head(`Content-Length: 0, ${inner.length}`) + inner],
    ['an encoding that is not the last', head('Transfer-Encoding: chunked, identity') + chunked],
    ['an unknown encoding', head('Transfer-Encoding: xchunked', 'Content-Length: 4') + chunked],
    ['a blank before the colon', head('Transfer-Encoding : chunked', 'Content-Length: 4') + chunked],
    ['a folded encoding', head('Transfer-Encoding:\r\n chunked', 'Content-Length: 4') + chunked],
    ['a signed length', head('Content-Length: +0') + inner],
    ['a hexadecimal length', head('Content-Length: 0x00') + inner],
    ['lines that end with LF alone', head('Transfer-Encoding: chunked').replaceAll('\r\n', '\n') + chunked],
    ['a chunk size with a sign', `${head('Transfer-Encoding: chunked')}+0\r\n\r\n${inner}`],
    ['a chunk size out of range', `${head('Transfer-Encoding: chunked')}10000000000000000\r\n${inner}`],
    ['a chunk that ends early', `${head('Transfer-Encoding: chunked')}1\r\nab\r\n0\r\n\r\n${inner}`],
    ['a NUL in the encoding', head('Transfer-Encoding: chunked\0', 'Content-Length: 4') + chunked],
  ])('is not answered: %s', async (_name, text) => {
    const outcome = await exchangeRaw(target.origin, {
      pieces: [Buffer.from(text, 'latin1')],
      ending: 'finish',
    });
    expect(outcome.isClosed).toBe(true);
    // The complete first request may be rejected for its missing credential; the rest of the connection is not read.
    for (const answer of outcome.answers) {
      expect([400, 401]).toContain(answer.status);
      expect(problemsOf(answer)).toEqual([]);
    }
    expect(outcome.answers.at(-1)?.status ?? 400).toBe(400);
  });

  it('is answered when two readers agree on it: the test can detect it', async () => {
    const text = `${head('Content-Length: 0')}${inner}`;
    const outcome = await exchangeRaw(target.origin, {
      pieces: [Buffer.from(text, 'latin1')],
      ending: 'finish',
    });
    expect(outcome.answers.map(({ status }) => status)).toEqual([401, 404]);
  });
});

describe('a request that Node would answer or print itself', () => {
  const put = async (text: string) => {
    const { answers } = await exchangeRaw(target.origin, { pieces: [Buffer.from(text)], ending: 'finish' });
    return answers;
  };

  it('is rejected in the error shape without a host', async () => {
    const [answer] = await put('GET /api/v1/keys HTTP/1.1\r\n\r\n');
    expect(answer?.status).toBe(400);
    expect(answer && problemsOf(answer)).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1/health', 200],
    ['http://[::1/x', 404],
    ['mailto:someone', 400],
  ])('may have a URL as its target, or nearly one: %s', async (url, status) => {
    const [answer] = await put(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer?.status).toBe(status);
  });
});

describe('slow and vanishing callers', () => {
  it('do not delay others', async () => {
    const opening = 'POST /api/v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n';
    const waiting = Array.from({ length: AT_ONCE }, () =>
      exchangeRaw(target.origin, {
        pieces: Array.from(opening, (character) => Buffer.from(character)),
        ending: 'wait',
      }),
    );
    const { status } = await target.send({ method: 'GET', path: '/health', headers: {} });
    expect(status).toBe(200);
    for (const { isClosed } of await Promise.all(waiting)) expect(isClosed).toBe(false);
  });
});
