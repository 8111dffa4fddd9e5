import { oneOf } from '../../app/search';

export const RANGES = ['hour', 'day', 'week', 'month', 'quarter'] as const;
export type Range = (typeof RANGES)[number];
export const GROUPINGS = ['model', 'key'] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const MEASURES = ['calls', 'spend', 'tokens', 'errors', 'latency', 'first-token'] as const;
export type Measure = (typeof MEASURES)[number];

interface OverviewSearch {
  /** Absent: `day`. */
  readonly range?: Range;
  /** Absent: `model`. */
  readonly by?: Grouping;
  /** Absent: `calls`. */
  readonly measure?: Measure;
  /** Of times by model. Absent: the median. */
  readonly share?: 'p95';
  /** The chart has a line or a part of its bars for each model. */
  readonly each?: 'model';
}

export function readOverviewSearch(search: Readonly<Record<string, unknown>>): OverviewSearch {
  return {
    range: oneOf(RANGES, search['range']),
    by: oneOf(GROUPINGS, search['by']),
    measure: oneOf(MEASURES, search['measure']),
    each: oneOf(['model'] as const, search['each']),
    share: oneOf(['p95'] as const, search['share']),
  };
}
