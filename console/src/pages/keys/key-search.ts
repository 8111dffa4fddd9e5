import { oneOf, textOf } from '../../app/search';

export const ORDERS = ['name', 'spend', 'last_used', 'expires'] as const;
export const STATES = ['stopped', 'expiring', 'unused', 'disabled'] as const;

export interface KeySearch {
  /** A part of a name. */
  readonly q?: string;
  readonly disabled?: 'hidden';
  /** Absent: newest first. */
  readonly sort?: (typeof ORDERS)[number];
  /** Absent: any. */
  readonly state?: (typeof STATES)[number];
}

export function readKeySearch(search: Readonly<Record<string, unknown>>): KeySearch {
  return {
    q: textOf(search['q']),
    disabled: oneOf(['hidden'] as const, search['disabled']),
    sort: oneOf(ORDERS, search['sort']),
    state: oneOf(STATES, search['state']),
  };
}
