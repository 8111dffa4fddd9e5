import type { ModelKind } from '../../api/models';
import { oneOf, textOf } from '../../app/search';

export interface ModelSearch {
  /** A part of an id or name. */
  readonly q?: string;
  readonly provider?: string;
  /** By the modality of the answers. */
  readonly kind?: ModelKind;
  /** `all`: models without a configured provider as well. */
  readonly show?: 'all';
}

export function readModelSearch(search: Readonly<Record<string, unknown>>): ModelSearch {
  return {
    q: textOf(search['q']),
    provider: textOf(search['provider']),
    kind: oneOf(['embeddings', 'text'] as const, search['kind']),
    show: oneOf(['all'] as const, search['show']),
  };
}
