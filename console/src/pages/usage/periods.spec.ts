import { describe, expect, it } from '@jest/globals';
import { daysOf, periodOf, recentMonths } from './periods';

const NOW = Date.parse('2026-03-15T12:00:00Z');
const at = (text: string): number => Date.parse(text);

describe('the period of the usage page', () => {
  it.each([
    [{}, '2026-03-01', '2026-04-01', '2026-03'],
    [{ month: 'last' }, '2026-02-01', '2026-03-01', '2026-02'],
    [{ month: '2025-12' }, '2025-12-01', '2026-01-01', '2025-12'],
    [{ from: '2026-02-28', to: '2026-03-01' }, '2026-02-28', '2026-03-02', '2026-02-28_2026-03-01'],
    [
      { month: 'last', from: '2026-03-03', to: '2026-03-03' },
      '2026-03-03',
      '2026-03-04',
      '2026-03-03_2026-03-03',
    ],
  ])('is that of %j', (search, start, end, name) => {
    expect(periodOf(search, NOW)).toEqual({ start: at(start), end: at(end), name });
  });

  it.each([
    [{ from: '2026-03-02', to: '2026-03-01' }, 'The first day is after the last.'],
    [{ from: '2026-02-30', to: '2026-03-01' }, 'Choose the first and the last day.'],
    [{ from: '2026-02-01' }, 'Choose the first and the last day.'],
    [{ from: '2024-01-01', to: '2026-03-01' }, 'Choose at most 366 days.'],
  ])('is refused for %j', (search, problem) => {
    expect(periodOf(search, NOW)).toBe(problem);
  });

  it('has the days that have begun', () => {
    const period = periodOf({}, NOW);
    if (typeof period === 'string') throw new Error(period);
    const days = daysOf(period, NOW);
    expect([days.length, days.at(-1)]).toEqual([15, at('2026-03-15')]);
    expect(daysOf(period, at('2026-05-01')).length).toBe(31);
  });

  it('may be one of thirteen months, over the end of a year', () => {
    const months = recentMonths(at('2026-01-31T00:00:00Z'));
    expect([months.length, months[0], months[1], months.at(-1)]).toEqual([
      13,
      '2026-01',
      '2025-12',
      '2025-01',
    ]);
  });
});
