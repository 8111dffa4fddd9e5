// Answers of any make take time in proportion to their bytes: a provider that is slow to read stops the calls of all others.
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { STREAM_UNITS, timeStream, timeWhole, WHOLE_UNITS } from '../support/chat/answer-times.js';
import type { AnswerTimes } from '../support/chat/answer-times.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';

// Milliseconds of processor time for a KB: some twenty times what usual chunks take.
const MOST = 1;
const counts = { streams: 0, answers: 0, 'most microseconds a KB': 0 };
afterAll(() => reportCounts('times of chat answers', counts));

/** Other work of the machine disturbs single runs: what is slow is measured twice more. */
async function expectQuick(measure: () => AnswerTimes | Promise<AnswerTimes>): Promise<void> {
  let quickest = Infinity;
  for (let run = 0; run < 3 && quickest >= MOST; run++)
    quickest = Math.min(quickest, (await measure()).millisecondsPerKilobyte);
  const most = counts['most microseconds a KB'];
  counts['most microseconds a KB'] = Math.max(most, Math.round(quickest * 1_000));
  expect(quickest).toBeLessThan(MOST);
}

describe('answers', () => {
  it(
    'streams of mixed units are read within a millisecond a KB',
    async () => {
      const units = fc.array(fc.constantFrom(...Object.values(STREAM_UNITS)), { minLength: 1, maxLength: 5 });
      await tryOut(
        'streams of mixed units are read within a millisecond a KB',
        share(1 / 20),
        fc.asyncProperty(units, fc.integer({ min: 300_000, max: 1_500_000 }), async (chosen, bytes) => {
          counts.streams++;
          await expectQuick(() => timeStream(chosen, bytes));
        }),
      );
    },
    TEST_TIMEOUT,
  );

  it(
    'whole answers are read within a millisecond a KB',
    async () => {
      await tryOut(
        'whole answers are read within a millisecond a KB',
        share(1 / 40),
        fc.asyncProperty(
          fc.constantFrom(...Object.values(WHOLE_UNITS)),
          fc.integer({ min: 300_000, max: 4_000_000 }),
          async (unit, bytes) => {
            counts.answers++;
            await expectQuick(() => timeWhole(unit, bytes));
          },
        ),
      );
    },
    TEST_TIMEOUT,
  );
});
