import { oneOf, textOf } from '../../app/search';

export interface KeySearch {
  /** A part of a name. */
  readonly q?: string;
  readonly disabled?: 'hidden';
}

export function readKeySearch(search: Readonly<Record<string, unknown>>): KeySearch {
  return { q: textOf(search['q']), disabled: oneOf(['hidden'] as const, search['disabled']) };
}
