// The fetches of one call: a call whose cached inputs others fail to fetch makes a second one.
import type { EmbeddingInput, EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { ServedSlice } from '../routing/routed-call.js';

/** Inputs that were requested from providers together. */
export interface Fetch {
  /** Their indexes in the call, in order. */
  readonly indexes: readonly number[];
  /** By their places among the inputs of the fetch. */
  readonly served: readonly ServedSlice[];
}

/** Slices at their places among the inputs of all fetches; without those whose inputs are not consecutive there. */
export function joinFetches(fetches: readonly Fetch[]): Fetch {
  const indexes = fetches.flatMap((fetch) => fetch.indexes).toSorted((one, other) => one - other);
  const places = new Map(indexes.map((index, place) => [index, place]));
  const served = fetches.flatMap((fetch) =>
    fetch.served.flatMap((slice) => {
      const last = slice.start + slice.input.items.length - 1;
      const start = places.get(fetch.indexes[slice.start] ?? -1);
      const end = places.get(fetch.indexes[last] ?? -1);
      return start !== undefined && end === start + last - slice.start ? [{ ...slice, start }] : [];
    }),
  );
  return { indexes, served: served.toSorted((one, other) => one.start - other.start) };
}

/** The request with these inputs alone. */
export function withInputs(request: EmbeddingRequest, indexes: readonly number[]): EmbeddingRequest {
  const { form, items } = request.input;
  if (indexes.length === items.length) return request;
  const wanted = new Set(indexes);
  const input = { form, items: items.filter((_item, index) => wanted.has(index)) } as EmbeddingInput;
  return { ...request, input };
}
