// Which large texts are rejected before parsing, with which path, and how many turns of the event loop the scan
// takes.
import { describe, expect, it } from '@jest/globals';
import { createCountingPace, createWork } from '../../../test/support/upstreams/pace.js';
import { needsScan, scanJson, scanJsonAtOnce } from './json-scan.js';
import { MAX_MEMBERS } from '../fields/json-shape.js';

const MANY = 100_000;
const members = (count: number): string =>
  `{${Array.from({ length: count }, (_none, index) => `"m${index}":${index}`).join(',')}}`;

async function problemOf(text: string): Promise<string | null> {
  const bytes = Buffer.from(text);
  if (!needsScan(bytes)) return null;
  return scanJson(bytes, createWork()).then(
    () => null,
    (error: Error) => error.message.replace('Invalid request parameters: ', ''),
  );
}

const tooMany = `must have at most ${MAX_MEMBERS} members`;

describe('a large text', () => {
  it.each([
    ['the body', members(MANY)],
    ['provider', `{"input":"a","provider":${members(MANY)}}`],
    ['a.b[2].c', `{"a":{"x":[1,2],"b":[{"c":1},[],{"c":${members(MANY)}}]}}`],
    ['a[1]', `{"a":["{\\":[",${members(MANY)}]}`],
    ['a b?', `{"a b\\u0000":1,"a b\u0000":${members(MANY)}}`],
  ])('is rejected with too many members in %s', async (path, text) => {
    expect(await problemOf(text)).toBe(`${path}: ${tooMany}`);
  });

  it('is rejected even when a string interrupts the count', async () => {
    for (const text of [
      '\\"'.repeat(50),
      '\\\\'.repeat(33),
      `${'x'.repeat(40)}\\\\\\"${'y'.repeat(90)}\\"`,
      '',
    ]) {
      expect(await problemOf(`{"input":"${text}","provider":${members(MANY)}}`)).toBe(`provider: ${tooMany}`);
    }
  });

  it('is rejected with millions of empty lists or objects', async () => {
    for (const one of ['[]', '{}']) {
      const text = `{"input":[${Array.from({ length: 600_000 }, () => one).join(',')}]}`;
      expect(await problemOf(text)).toBe('input: must have at most 524288 objects and arrays in all');
    }
  });

  it('is rejected with endless nesting', async () => {
    expect(await problemOf(`{"trace":${'['.repeat(MANY)}${']'.repeat(MANY)}}`)).toBe(
      'trace: is nested too deeply',
    );
  });

  it.each([
    [
      'strings full of structural characters',
      JSON.stringify({ input: Array.from({ length: 99 }, () => '{":[,'.repeat(9_999)) }),
    ],
    [
      'token numbers',
      JSON.stringify({ input: Array.from({ length: 9_000 }, () => [1, 2, 3, 4, 5]), model: 'a/b' }),
    ],
    [
      'multimodal items',
      JSON.stringify({
        input: Array.from({ length: 5_000 }, () => ({ content: [{ type: 'text', text: 'a' }] })),
      }),
    ],
    ['one image', JSON.stringify({ input: `data:image/png;base64,${'A'.repeat(1_000_000)}` })],
    [
      `objects of ${MAX_MEMBERS} members`,
      `[${Array.from({ length: 99 }, () => members(MAX_MEMBERS)).join(',')}]`,
    ],
  ])('is accepted with %s', async (_name, text) => {
    expect(text.length).toBeGreaterThan(64 * 1024);
    expect(await problemOf(text)).toBeNull();
    expect(JSON.parse(text)).toBeDefined();
  });

  it.each([
    '}'.repeat(MANY),
    '"'.repeat(MANY + 1),
    `[":${'\\'.repeat(MANY)}`,
    ']:,'.repeat(MANY),
    ':'.repeat(99_999),
  ])('ends the scan when it is invalid JSON: %#', async (text) => {
    expect([null, `the body: ${tooMany}`]).toContain(await problemOf(text));
  });
});

it('yields to other work', async () => {
  const bytes = Buffer.from(
    JSON.stringify({ input: Array.from({ length: 4_000 }, () => ':{['.repeat(1_000)) }),
  );
  const pace = createCountingPace();
  await scanJson(bytes, pace);
  expect(pace.pauses).toBeGreaterThanOrEqual(10);
});

it('skips short texts, and long ones with little structure', () => {
  expect(needsScan(Buffer.from(members(5_000)))).toBe(false);
  expect(needsScan(Buffer.from(JSON.stringify({ input: 'a'.repeat(1_000_000) })))).toBe(false);
  expect(() => scanJsonAtOnce(Buffer.from(members(5_000)))).toThrow(tooMany);
});
