import { oneOf, textOf } from '../../app/search';
import { RANGES } from '../overview/overview-search';
import type { Range } from '../overview/overview-search';

interface RefusalSearch {
  /** Absent: `day`. */
  readonly range?: Range;
  /** The request id of the only call to list. */
  readonly request?: string;
}

export function readRefusalSearch(search: Readonly<Record<string, unknown>>): RefusalSearch {
  return { range: oneOf(RANGES, search['range']), request: textOf(search['request']) };
}
