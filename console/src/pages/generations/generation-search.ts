import { oneOf, textOf } from '../../app/search';

export interface GenerationSearch {
  readonly model?: string;
  readonly provider?: string;
  readonly operation?: 'embeddings' | 'chat' | 'rerank';
  /** `404`, `5xx`, `error`. */
  readonly status?: string;
  /** `context_length_exceeded` */
  readonly error?: string;
  /** The hash of a key. */
  readonly key?: string;
  readonly session?: string;
  readonly user?: string;
  /** ISO times. */
  readonly from?: string;
  readonly to?: string;
}

export function readGenerationSearch(search: Readonly<Record<string, unknown>>): GenerationSearch {
  return {
    model: textOf(search['model']),
    provider: textOf(search['provider']),
    operation: oneOf(['embeddings', 'chat', 'rerank'] as const, search['operation']),
    status: textOf(search['status']),
    error: textOf(search['error']),
    key: textOf(search['key']),
    session: textOf(search['session']),
    user: textOf(search['user']),
    from: textOf(search['from']),
    to: textOf(search['to']),
  };
}
