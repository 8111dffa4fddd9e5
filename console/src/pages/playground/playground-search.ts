import { oneOf } from '../../app/search';

export const OPERATIONS = ['embed', 'chat', 'rerank'] as const;

interface PlaygroundSearch {
  /** Absent: `embed`. */
  readonly operation?: (typeof OPERATIONS)[number];
}

export function readPlaygroundSearch(search: Readonly<Record<string, unknown>>): PlaygroundSearch {
  return { operation: oneOf(OPERATIONS, search['operation']) };
}
