// Streams and answers of providers that are valid, truncated, corrupted, reordered and foreign. The relay throws nothing,
// holds little, and writes only events that clients can read; reads that are cut elsewhere change nothing.
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { NEVER_YIELD } from '../../src/concurrency/yield-queue.js';
import { readChatAnswer } from '../../src/chat/stream/chat-answer.js';
import {
  ANSWER_OPTIONS,
  answerEnd,
  chunksOf,
  createRelay,
  IDENTITY,
  relayed,
} from '../support/chat/relay.js';
import { UPSTREAM_STREAMS } from '../support/chat/upstream-streams.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import { hostileValue } from '../support/fuzz/hostile-values.js';

const counts = { streams: 0, finished: 0, broken: 0, errors: 0, answers: 0, read: 0 };
afterAll(() => reportCounts('chat streams of providers', counts));

const EVENTS = UPSTREAM_STREAMS.flatMap(({ body }) =>
  body
    .toString('latin1')
    .split(/(?:\r\n|\r|\n){2}/)
    .filter((event) => event !== ''),
);
const DOCUMENTS = EVENTS.filter((event) => event.startsWith('data: {')).map((event) =>
  event.slice('data: '.length),
);

/** A value of a document replaced by a hostile one. */
const changed = fc
  .tuple(fc.constantFrom(...DOCUMENTS), fc.nat(), hostileValue)
  .map(([document, at, value]) => {
    const values = [...document.matchAll(/:(?:"(?:[^"\\]|\\.)*"|[\d.]+|null|true|false)/g)];
    const chosen = values[at % Math.max(1, values.length)];
    if (!chosen) return document;
    const text = JSON.stringify(value) ?? 'null';
    return `${document.slice(0, chosen.index)}:${text}${document.slice(chosen.index + chosen[0].length)}`;
  })
  .map((document) => `data: ${document}`);
const event = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...EVENTS) },
  { weight: 3, arbitrary: changed },
  { weight: 1, arbitrary: hostileValue.map((value) => `data: ${JSON.stringify(value) ?? ''}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(': comment', 'event: error', 'event: x', 'data', 'data:', 'id: 1', 'retry: 1'),
  },
);
const ending = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n', '\n\r');
const stream = fc
  .array(fc.tuple(event, ending), { maxLength: 12 })
  .map((events) => Buffer.from(events.map((parts) => parts.join('')).join(''), 'latin1'));
/** A part of the bytes replaced by others. */
function corrupted(good: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc
    .tuple(good, fc.nat(), fc.nat({ max: 12 }), fc.uint8Array({ maxLength: 6 }))
    .map(([bytes, place, removed, added]) => {
      const at = place % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
    });
}
const hostile = fc.oneof({ weight: 4, arbitrary: stream }, { weight: 2, arbitrary: corrupted(stream) });

describe('a stream', () => {
  it(
    'is relayed or fails, and never breaks the relay',
    async () => {
      const cut = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
      await tryOut(
        'is relayed or fails, and never breaks the relay',
        share(1),
        fc.property(hostile, cut, fc.boolean(), (bytes, places, excludesReasoning) => {
          const whole = relayed({ excludesReasoning }, [bytes]);
          counts.streams++;
          if (whole.failure === null) counts.finished++;
          else if (whole.failure.kind === 'broken_answer') counts.broken++;
          else counts.errors++;
          expect(whole.isFinished).toBe(true);
          for (const { id, choices, usage } of chunksOf(whole.output)) {
            expect([id, usage]).toEqual([IDENTITY.id, undefined]);
            for (const { index, delta, finish_reason: reason } of choices) {
              expect(Number.isInteger(index)).toBe(true);
              expect(typeof delta).toBe('object');
              expect(reason === null || typeof reason === 'string').toBe(true);
              if (excludesReasoning) expect(delta).not.toHaveProperty('reasoning_details');
            }
          }
          expect(() => JSON.stringify(whole.choices)).not.toThrow();
          const cuts = places
            .map((place) => Math.floor(place * bytes.length))
            .sort((one, other) => one - other);
          const pieces = [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length));
          expect(relayed({ excludesReasoning }, pieces)).toEqual(whole);
        }),
      );
    },
    TEST_TIMEOUT,
  );

  it('holds no more than its bounds, however it is made', () => {
    const relay = createRelay({}, { maxEventBytes: 65_536 });
    const piece = Buffer.from(
      'data: {"choices":[{"index":0,"delta":{"content":"some text"}}]}\n\n'.repeat(100),
    );
    let most = 0;
    while (!relay.isFinished) {
      relay.push(piece);
      relay.take();
      most = Math.max(most, relay.heldBytes);
    }
    expect(relay.failure).toEqual({
      kind: 'broken_answer',
      message: 'the answer is larger than 67108864 bytes',
    });
    expect(most).toBeLessThan(600_000);
  });
});

describe('a whole answer', () => {
  const whole = fc.oneof(changed, fc.constantFrom(...DOCUMENTS)).map((text) => {
    const document = text.replace(/^data: /, '').replaceAll('"delta"', '"message"');
    return Buffer.from(document, 'latin1');
  });

  it(
    'is read or fails, and never throws',
    async () => {
      await tryOut(
        'is read or fails, and never throws',
        share(1 / 4),
        fc.asyncProperty(fc.oneof(whole, corrupted(whole)), async (bytes) => {
          const result = await readChatAnswer(bytes, ANSWER_OPTIONS, NEVER_YIELD);
          counts.answers++;
          if ('failure' in result) return;
          counts.read++;
          const body = JSON.parse(Buffer.concat(result.answer.body(answerEnd())).toString()) as Record<
            string,
            unknown
          >;
          expect(body).toMatchObject({ id: IDENTITY.id, object: 'chat.completion', usage: { cost: 0 } });
          expect(body).toHaveProperty('system_fingerprint');
        }),
      );
    },
    TEST_TIMEOUT,
  );
});
