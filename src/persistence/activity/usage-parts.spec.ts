import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { partsOf, withHistory } from './usage-parts.js';
import { tablesOf, USAGE_TABLES, USER_TABLES } from './usage-statements.js';
import type { UsageLevel } from './usage-statements.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = new Date('2026-11-18T12:34:56.789Z');
const LEVELS = new Set([...USAGE_TABLES, ...USER_TABLES].map(({ level }) => level));

const textOf = (range: Parameters<typeof partsOf>[0], level: UsageLevel = 'workspace'): string[] =>
  partsOf(range, { level, now }).map(({ source, from, to }) =>
    [
      typeof source === 'string' ? source : source.table,
      from.toISOString().slice(5, 16),
      to.toISOString().slice(5, 16),
    ].join(' '),
  );

describe('the parts of a range', () => {
  it('are days in the middle, hours beside them, and the log at the ends', () => {
    const range = { from: new Date('2026-11-15T10:20:00Z'), to: new Date('2026-11-18T12:30:00Z') };
    expect(textOf({ ...range, granularity: 'day' })).toEqual([
      'log 11-15T10:20 11-15T11:00',
      'usage_hours 11-15T11:00 11-16T00:00',
      'usage_days 11-16T00:00 11-18T00:00',
      'usage_hours 11-18T00:00 11-18T12:00',
      'log 11-18T12:00 11-18T12:30',
      'unsummed 11-15T11:00 11-18T12:00',
    ]);
    expect(textOf({ ...range, granularity: 'hour' })).toContain('usage_hours 11-15T11:00 11-18T12:00');
  });

  it('are the log alone within an hour', () => {
    const range = { from: new Date('2026-11-18T11:10:00Z'), to: new Date('2026-11-18T12:05:00Z') };
    expect(textOf({ ...range, granularity: null })).toEqual(['log 11-18T11:10 11-18T12:05']);
  });

  it('read the hours of a key from the log when they are no longer kept', () => {
    const range = { from: new Date('2026-10-20T10:20:00Z'), to: new Date('2026-11-18T12:30:00Z') };
    expect(textOf({ ...range, granularity: null }, 'key')).toEqual([
      'log 10-20T10:20 10-21T00:00',
      'usage_key_days 10-21T00:00 11-18T00:00',
      'usage_key_hours 11-18T00:00 11-18T12:00',
      'log 11-18T12:00 11-18T12:30',
      'unsummed 10-21T00:00 11-18T12:00',
    ]);
  });

  it('are weeks from Monday of all keys, where no shorter period is asked for', () => {
    const range = { from: new Date('2026-10-24T00:00:00Z'), to: new Date('2026-11-18T12:00:00Z') };
    const summed = (granularity: 'day' | null): string[] =>
      textOf({ ...range, granularity }, 'key_total').filter((part) => !part.startsWith('unsummed'));
    expect(summed(null)).toEqual([
      'usage_key_day_totals 10-24T00:00 10-26T00:00',
      'usage_key_week_totals 10-26T00:00 11-16T00:00',
      'usage_key_day_totals 11-16T00:00 11-18T00:00',
      'usage_key_hour_totals 11-18T00:00 11-18T12:00',
    ]);
    expect(summed('day')).toEqual([
      'usage_key_day_totals 10-24T00:00 11-18T00:00',
      'usage_key_hour_totals 11-18T00:00 11-18T12:00',
    ]);
  });

  it('are hours by all dimensions beside the days and weeks by model', () => {
    const range = { from: new Date('2026-11-08T00:00:00Z'), to: new Date('2026-11-18T12:00:00Z') };
    const summed = (level: UsageLevel): string[] =>
      textOf({ ...range, granularity: null }, level).filter((part) => !part.startsWith('unsummed'));
    const partsOfLevel = (who: string): string[] => [
      `usage_${who}_model_days 11-08T00:00 11-09T00:00`,
      `usage_${who}_model_weeks 11-09T00:00 11-16T00:00`,
      `usage_${who}_model_days 11-16T00:00 11-18T00:00`,
      `usage_${who}_hours 11-18T00:00 11-18T12:00`,
    ];
    expect(summed('key_model')).toEqual(partsOfLevel('key'));
    expect(summed('user_model')).toEqual(partsOfLevel('user'));
  });

  it('cover every moment of the range once, by whole periods that are kept', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -150 * DAY, max: DAY }),
        fc.integer({ min: 1, max: 90 * DAY }),
        fc.constantFrom('hour', 'day', 'week', 'month', null),
        fc.constantFrom(...LEVELS),
        (offset, length, granularity, level) => {
          const from = new Date(now.getTime() + offset);
          const to = new Date(from.getTime() + length);
          const parts = partsOf({ from, to, granularity }, { level, now });
          const covering = parts.filter(({ source }) => source !== 'unsummed');
          expect(covering[0]?.from).toEqual(from);
          expect(covering.at(-1)?.to).toEqual(to);
          for (const [index, part] of covering.slice(1).entries())
            expect(part.from).toEqual(covering[index]?.to);
          for (const { source, ...range } of covering) {
            if (typeof source === 'string') continue;
            const unit = source.period === 'hour' ? HOUR : DAY;
            for (const end of [range.from, range.to]) {
              expect(end.getTime() % unit).toBe(0);
              if (source.period === 'week') expect(end.getUTCDay()).toBe(1);
            }
            expect(range.from.getTime()).toBeGreaterThanOrEqual(now.getTime() - source.readableDays * DAY);
            expect(tablesOf(level)).toContain(source);
            if (granularity === 'hour') expect(source.period).toBe('hour');
            if (granularity === 'day' || granularity === 'month') expect(source.period).not.toBe('week');
          }
          const sum = (of: typeof parts): number =>
            of.reduce((total, part) => total + +part.to - +part.from, 0);
          expect(sum(parts.filter(({ source }) => source === 'unsummed'))).toBe(
            sum(covering.filter(({ source }) => source !== 'log')),
          );
        },
      ),
    );
  });
});

describe('the parts of a range with a history', () => {
  const divide = (begin: string | null, prefersHistory = false): string[] => {
    const range = { from: new Date('2026-07-01T10:20:00Z'), to: new Date('2026-09-10T12:30:00Z') };
    const { parts, spans } = withHistory(
      partsOf({ ...range, granularity: null }, { level: 'workspace', now }),
      {
        begin: begin === null ? null : new Date(begin),
        prefersHistory,
      },
    );
    const write = (name: string, { from, to }: { from: Date; to: Date }): string =>
      [name, from.toISOString().slice(5, 16), to.toISOString().slice(5, 16)].join(' ');
    return [
      ...spans.map((span) => write('history', span)),
      ...parts.map((part) => write(typeof part.source === 'string' ? part.source : part.source.table, part)),
    ];
  };
  const SUMS = [
    'usage_hours 08-10T13:00 08-11T00:00',
    'usage_days 08-11T00:00 09-10T00:00',
    'usage_hours 09-10T00:00 09-10T12:00',
  ];

  it('are the history up to the beginning of the log, and there what it has not copied yet', () => {
    expect(divide('2026-08-01T00:00:00Z')).toEqual([
      'history 07-01T10:20 08-01T00:00',
      'uncopied 07-01T10:20 08-01T00:00',
      'log 08-01T00:00 08-10T13:00',
      ...SUMS,
      'log 09-10T12:00 09-10T12:30',
      'unsummed 08-10T13:00 09-10T12:00',
    ]);
  });

  it('are the log where it has all, unless the history is preferred for parts of more than a day', () => {
    expect(divide(null)[0]).toBe('log 07-01T10:20 08-10T13:00');
    expect(divide(null, true)).toEqual([
      'history 07-01T10:20 08-10T13:00',
      'uncopied 07-01T10:20 08-10T13:00',
      ...SUMS,
      'log 09-10T12:00 09-10T12:30',
      'unsummed 08-10T13:00 09-10T12:00',
    ]);
  });

  it('are the history at both ends when the log begins later, and sums in between', () => {
    expect(divide('2026-11-01T00:00:00Z').slice(0, 4)).toEqual([
      'history 07-01T10:20 08-10T13:00',
      'history 09-10T12:00 09-10T12:30',
      'uncopied 07-01T10:20 08-10T13:00',
      SUMS[0],
    ]);
  });
});
