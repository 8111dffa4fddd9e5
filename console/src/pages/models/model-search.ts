import type { CatalogueKind, LayerName } from '../../api/catalogue';
import { oneOf, textOf } from '../../app/search';

export interface ModelSearch {
  /** A part of an id or name. */
  readonly q?: string;
  readonly provider?: string;
  readonly kind?: CatalogueKind;
  /** `all`: models without a configured provider as well. `disabled`: those that the operator has disabled. */
  readonly show?: 'all' | 'disabled';
  readonly source?: LayerName;
}

export function readModelSearch(search: Readonly<Record<string, unknown>>): ModelSearch {
  return {
    q: textOf(search['q']),
    provider: textOf(search['provider']),
    kind: oneOf(
      ['models', 'chat_models', 'rerank_models', 'moving_aliases', 'unlisted'] as const,
      search['kind'],
    ),
    show: oneOf(['all', 'disabled'] as const, search['show']),
    source: oneOf(['shipped', 'imported', 'operator', 'file'] as const, search['source']),
  };
}

export interface NewModelSearch {
  /** The model that the new one is like. */
  readonly copy?: string;
  /** A provider, and a name of its own list. */
  readonly provider?: string;
  readonly name?: string;
}

export function readNewModelSearch(search: Readonly<Record<string, unknown>>): NewModelSearch {
  return {
    copy: textOf(search['copy']),
    provider: textOf(search['provider']),
    name: textOf(search['name']),
  };
}
