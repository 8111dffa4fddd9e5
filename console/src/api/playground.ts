// Calls from the console, charged to a key that the user chooses.
import { askConsole } from './client';
import type { Schemas } from './client';

export interface EmbeddingCall {
  /** Undefined: the key of the session. */
  readonly keyHash: string | undefined;
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
  readonly inputType: string | undefined;
}

export interface EmbeddingAnswer {
  readonly call: EmbeddingCall;
  readonly vectors: readonly (readonly number[])[];
  readonly model: string;
  readonly provider: string;
  readonly usage: Schemas['EmbeddingUsageDto'];
  readonly generationId: string | null;
  /** Milliseconds from the request to the whole answer, as the browser sees it. */
  readonly latency: number;
}

export async function embed(embeddingCall: EmbeddingCall): Promise<EmbeddingAnswer> {
  const { keyHash, model, texts, dimensions, inputType } = embeddingCall;
  const startedAt = performance.now();
  const { body, headers } = await askConsole<Schemas['EmbeddingResponseDto']>(
    'POST',
    playgroundPath('embeddings', keyHash),
    { model, input: texts, dimensions, input_type: inputType },
  );
  return {
    call: embeddingCall,
    vectors: body.data.map(({ embedding }) => embedding as readonly number[]),
    model: body.model,
    provider: body.provider,
    usage: body.usage,
    generationId: headers.get('x-generation-id'),
    latency: performance.now() - startedAt,
  };
}

export interface RerankCall {
  /** Undefined: the key of the session. */
  readonly keyHash: string | undefined;
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Undefined: all documents. */
  readonly topN: number | undefined;
}

export type RerankAnswer = Schemas['RerankResponseDto'] & {
  readonly generationId: string | null;
  /** Milliseconds from the request to the whole answer, as the browser sees it. */
  readonly latency: number;
};

export async function rerank(rerankCall: RerankCall): Promise<RerankAnswer> {
  const { keyHash, model, query, documents, topN } = rerankCall;
  const startedAt = performance.now();
  const { body, headers } = await askConsole<Schemas['RerankResponseDto']>(
    'POST',
    playgroundPath('rerank', keyHash),
    { model, query, documents, top_n: topN },
  );
  return {
    ...body,
    generationId: headers.get('x-generation-id'),
    latency: performance.now() - startedAt,
  };
}

/** The path of a playground call that a key pays for; undefined: the key of the session. */
export function playgroundPath(operation: string, keyHash: string | undefined): `/console/${string}` {
  const query = keyHash === undefined ? '' : `?api_key_hash=${encodeURIComponent(keyHash)}`;
  return `/console/playground/${operation}${query}`;
}
