// Answers of providers that are valid, truncated, corrupted and foreign: every reader returns the vectors of the
// inputs, or throws BrokenAnswer. The oracle is JSON.parse and a search, without knowledge of any provider.
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { vectorValues, vectorWidth } from '../../src/vectors/vectors.js';
import type { Vector } from '../../src/vectors/vectors.js';
import { BrokenAnswer } from '../../src/providers/shared/provider.js';
import type { HttpProvider, ProviderCall } from '../../src/providers/shared/provider.js';
import { JsonScanner } from '../../src/json/json-scanner.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import { hostileValue, corrupted } from '../support/fuzz/hostile-values.js';
import { callOf, exchange, httpProvider } from '../support/providers/drive.js';
import { PROVIDER_STUBS } from '../support/providers/index.js';
import { toBase64 } from '../support/upstreams/stub-upstream.js';

// Short vectors: most corruptions then hit structure instead of one number among a thousand.
const WIDTH = 4;
const TEXTS = ['one', 'two words', 'three more words'];
const SHARE = 1 / PROVIDER_STUBS.length;
const counts = { answers: 0, read: 0, broken: 0, errors: 0 };
afterAll(() => reportCounts('answers of providers', counts));

/** The same document with every vector cut to its first numbers. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 1_000 && /^[\w+/]+=*$/.test(value)) {
    const bytes = Buffer.from(value, 'base64');
    return bytes.subarray(0, WIDTH * 4).toString('base64');
  }
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return items.every((item) => typeof item === 'number') && items.length > WIDTH
      ? items.slice(0, WIDTH)
      : items.map(shortened);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

interface Candidate {
  readonly text: string;
  readonly index: unknown;
}

/** Every possible vector of a document, in order, with the index beside it. */
function candidatesIn(value: unknown, index?: unknown): Candidate[] {
  if (typeof value === 'string') return [{ text: value, index }];
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const own = items.every((item) => typeof item === 'number') ? [{ text: toBase64(items), index }] : [];
    // With several vectors in a list, the index may belong to none of them.
    return [...own, ...items.flatMap((item) => candidatesIn(item, items.length === 1 ? index : undefined))];
  }
  if (typeof value !== 'object' || value === null) return [];
  const { index: ownIndex = index } = value as { index?: unknown };
  return Object.values(value).flatMap((member) => candidatesIn(member, ownIndex));
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}

/** Accepted vectors must be those of the document, each at the index of its input. */
function expectVectorsOf(body: Buffer, vectors: readonly Vector[]): void {
  const document = parse(body);
  // Unknown members are skipped unread, so an answer may contain invalid JSON there: the bytes must match.
  if (document === undefined) {
    for (const vector of vectors) expect(vector.form !== 'floats' && body.includes(vector.text)).toBe(true);
    return;
  }
  const candidates = candidatesIn(document);
  let from = 0;
  vectors.forEach((vector, position) => {
    const text = toBase64([...vectorValues(vector)]);
    const indexed = candidates.filter((candidate) => typeof candidate.index === 'number');
    if (indexed.some((candidate) => candidate.text === text)) {
      expect(indexed.filter((candidate) => candidate.text === text).map(({ index }) => index)).toContain(
        position,
      );
      return;
    }
    const at = candidates.findIndex((candidate, index) => index >= from && candidate.text === text);
    expect(at).not.toBe(-1);
    from = at + 1;
  });
}

const bytesOf = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  values.map((value) => Buffer.from(JSON.stringify(value) ?? ''));

/** Changed, removed and inserted bytes, repeated parts, a missing end. */
function damaged(text: string): fc.Arbitrary<Buffer> {
  const part = fc.oneof(
    fc.constantFrom(
      '',
      '"',
      '\\',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      '0',
      '-',
      '.',
      'e9',
      '1e999',
      'NaN',
      'null',
      '"index":0,',
    ),
    fc.constantFrom('\ufeff', '\0', '[[]]', '{"a":', '"data":[],', '"embedding":[1,2,3,4],', ' ', '\n'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const damage = fc.record({ at: fc.nat(text.length), length: fc.nat(8), by: part, isCopy: fc.boolean() });
  return fc
    .array(damage, { minLength: 1, maxLength: 4 })
    .map((damages) =>
      Buffer.from(
        damages.reduce(
          (all, { at, length, by, isCopy }) =>
            all.slice(0, at) + (isCopy ? all.slice(at, at + length) : by) + all.slice(at + length),
          text,
        ),
      ),
    );
}

const garbage = fc.oneof(
  bytesOf(hostileValue),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('['.repeat(200_000), '{"data":'.repeat(50_000), `"${'a'.repeat(500_000)}`)
    .map((text) => Buffer.from(text)),
);

describe('an answer', () => {
  it.each(PROVIDER_STUBS.map((stub) => ({ slug: stub.slug, stub })))(
    'of $slug is read correctly, or rejected',
    async ({ slug, stub }) => {
      const provider: HttpProvider = httpProvider(slug);
      const running = await stub.start();
      const input = { form: 'texts' as const, items: stub.maxInputs === 1 ? TEXTS.slice(0, 1) : TEXTS };
      const call: ProviderCall = callOf(stub.models[0], { input, inputType: 'search_document' });
      const { response } = await exchange(provider, call, { baseUrl: running.baseUrl, apiKey: stub.apiKey });
      await running.close();
      const document = shortened(JSON.parse(response.body.toString('utf8')));
      const text = JSON.stringify(document);
      // The control: a valid answer is read.
      const right = provider.readAnswer({ ...response, body: Buffer.from(text) }, call);
      expect(right.vectors.map(vectorWidth)).toEqual(input.items.map(() => WIDTH));

      const bodies = fc.oneof(
        { weight: 6, arbitrary: damaged(text) },
        { weight: 6, arbitrary: bytesOf(corrupted(fc.constant(document))) },
        { weight: 1, arbitrary: garbage },
      );
      await tryOut(
        `of ${slug}`,
        share(SHARE),
        fc.property(bodies, fc.integer({ min: 200, max: 599 }), (body, status) => {
          counts.answers++;
          readOrBreak(provider, call, body);
          const error = provider.readError({ status, headers: { 'retry-after': 'soon' }, body });
          counts.errors++;
          expect(typeof error.message).toBe('string');
          expect(error.code === null || typeof error.code === 'string').toBe(true);
        }),
      );
    },
    TEST_TIMEOUT,
  );
});

function readOrBreak(provider: HttpProvider, call: ProviderCall, body: Buffer): void {
  let vectors;
  try {
    ({ vectors } = provider.readAnswer({ status: 200, headers: {}, body }, call));
  } catch (error) {
    expect(error).toBeInstanceOf(BrokenAnswer);
    counts.broken++;
    return;
  }
  // The service rejects these afterwards: another number of vectors, another width, invalid numbers.
  const isAccepted =
    vectors.length === call.input.items.length && vectors.every((vector) => vectorWidth(vector) === WIDTH);
  if (!isAccepted) {
    counts.broken++;
    return;
  }
  counts.read++;
  expectVectorsOf(body, vectors);
}

describe('the cursor', () => {
  it(
    'finds the values of JSON.parse, or throws, and terminates',
    async () => {
      await tryOut(
        'the cursor',
        share(1),
        fc.property(
          fc.oneof(bytesOf(hostileValue), damaged('{"a":[1,2,{"b":"c"}],"d":null}'), garbage),
          (body) => {
            const cursor = new JsonScanner(body, BrokenAnswer);
            let value: unknown;
            try {
              value = cursor.value();
              cursor.end();
            } catch (error) {
              expect(error).toBeInstanceOf(BrokenAnswer);
              return;
            }
            expect(value).toEqual(parse(body));
          },
        ),
      );
    },
    TEST_TIMEOUT,
  );
});
