import { expect, it } from '@jest/globals';
import { retryAfterOf } from './retry-after.js';

const NOW = new Date('2026-11-27T12:00:00Z');

it.each<[string | string[] | undefined, number | null]>([
  ['2', 2],
  ['0', 0],
  ['1.5', 1.5],
  [' 3 ', 3],
  ['6s', 6],
  [['4', '5'], 4],
  ['999999999999999', 31_536_000],
  ['Fri, 27 Nov 2026 12:00:30 GMT', 30],
  ['2026-11-27T12:00:30Z', 30],
  ['Fri, 27 Nov 2026 11:59:30 GMT', null],
  ['-1', null],
  ['-1.5', null],
  ['soon', null],
  ['soon 2099', null],
  ['NaN', null],
  ['1e9', null],
  ['', null],
  [undefined, null],
])('reads %j as %j seconds', (header, seconds) => {
  expect(retryAfterOf({ 'retry-after': header }, NOW)).toBe(seconds);
});
