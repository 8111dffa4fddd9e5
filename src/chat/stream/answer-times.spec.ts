// Answers take time in proportion to their bytes, and never the event loop for long (docs/contract.md#limits).
import { expect, it } from '@jest/globals';
import { STREAM_UNITS, timeStream, timeWhole, WHOLE_UNITS } from '../../../test/support/chat/answer-times.js';

// Milliseconds of processor time, far above what each takes: before the bounds some took two a KB, and 33 seconds at once.
const A_KILOBYTE = 1;
const AT_ONCE = 100;

it.each(Object.entries(STREAM_UNITS))('a stream of %s is read in time', (_name, unit) => {
  const { millisecondsPerKilobyte, longest } = timeStream([unit], 1_000_000);
  expect(millisecondsPerKilobyte).toBeLessThan(A_KILOBYTE);
  expect(longest).toBeLessThan(AT_ONCE);
});

it.each(Object.entries(WHOLE_UNITS))('a whole answer of %s is read in time', async (_name, unit) => {
  const { millisecondsPerKilobyte, longest } = await timeWhole(unit, 4_000_000);
  expect(millisecondsPerKilobyte).toBeLessThan(A_KILOBYTE);
  expect(longest).toBeLessThan(AT_ONCE);
});
