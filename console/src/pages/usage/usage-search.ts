import { oneOf, textOf } from '../../app/search';
import { isMonth } from './periods';

export const GROUPS = ['model', 'key', 'provider', 'user', 'workspace'] as const;
export type Group = (typeof GROUPS)[number];
export const MEASURES = ['spend', 'calls', 'tokens'] as const;
export type UsageMeasure = (typeof MEASURES)[number];

export interface UsageSearch {
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  /** Absent: `model`. */
  readonly by?: Group;
  /** A second grouping. */
  readonly and?: Group;
  /** Absent: `spend`. */
  readonly measure?: UsageMeasure;
  /** Absent: the workspace of the page. */
  readonly scope?: 'all';
}

export function readUsageSearch(search: Readonly<Record<string, unknown>>): UsageSearch {
  const month = textOf(search['month']);
  const by = oneOf(GROUPS, search['by']);
  const and = oneOf(GROUPS, search['and']);
  return {
    month: month === 'last' || (month !== undefined && isMonth(month)) ? month : undefined,
    from: textOf(search['from']),
    to: textOf(search['to']),
    by,
    and: and === (by ?? 'model') ? undefined : and,
    measure: oneOf(MEASURES, search['measure']),
    scope: oneOf(['all'] as const, search['scope']),
  };
}
