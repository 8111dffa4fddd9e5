import { oneOf, textOf } from '../../app/search';

export const GROUPS = ['model', 'key', 'provider', 'user', 'workspace'] as const;
export type Group = (typeof GROUPS)[number];
export const MEASURES = ['spend', 'calls', 'tokens'] as const;
export type UsageMeasure = (typeof MEASURES)[number];

const MONTH = /^(last|\d{4}-(0[1-9]|1[0-2]))$/;

export interface UsageSearch {
  /** `last`, or a month like `2026-10`. Absent: this month. */
  readonly month?: string;
  /** The first and the last day of an own range, like `2026-10-05`. They take precedence. */
  readonly from?: string;
  readonly to?: string;
  /** Absent: `model`. */
  readonly by?: Group;
  /** A second grouping. */
  readonly and?: Group;
  /** Absent: `spend`. */
  readonly measure?: UsageMeasure;
}

export function readUsageSearch(search: Readonly<Record<string, unknown>>): UsageSearch {
  const month = textOf(search['month']);
  const by = oneOf(GROUPS, search['by']);
  const and = oneOf(GROUPS, search['and']);
  return {
    month: month !== undefined && MONTH.test(month) ? month : undefined,
    from: textOf(search['from']),
    to: textOf(search['to']),
    by,
    and: and === (by ?? 'model') ? undefined : and,
    measure: oneOf(MEASURES, search['measure']),
  };
}
