// Splits the inputs of a call into calls that an endpoint takes: by count, by tokens and by bytes.
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { tokenBound } from '../catalogue/token-count.js';
import type { EmbeddingInput } from '../domain/embedding.js';

/** A run of inputs; `start` is the position of its first one in the caller's list. */
export interface Slice {
  readonly start: number;
  readonly input: EmbeddingInput;
}

/** The slices in order. One input that is too large by itself stays a slice of its own: the provider will say so. */
export function splitCall(slice: Slice, endpoint: ModelEndpoint): Slice[] {
  const { input, start } = slice;
  const count = input.items.length;
  const needsMeasure = endpoint.maxTokensPerCall !== undefined || endpoint.maxBytesPerCall !== undefined;
  if (count <= endpoint.maxInputsPerCall && !needsMeasure) return [slice];
  const slices: Slice[] = [];
  let begin = 0;
  let tokens = 0;
  let bytes = 0;
  for (let index = 0; index < count; index++) {
    const one = needsMeasure ? measure(part(input, index, index + 1), endpoint) : { tokens: 0, bytes: 0 };
    const isFull =
      index - begin >= endpoint.maxInputsPerCall ||
      tokens + one.tokens > (endpoint.maxTokensPerCall ?? Infinity) ||
      bytes + one.bytes > (endpoint.maxBytesPerCall ?? Infinity);
    if (isFull && index > begin) {
      slices.push({ start: start + begin, input: part(input, begin, index) });
      begin = index;
      tokens = 0;
      bytes = 0;
    }
    tokens += one.tokens;
    bytes += one.bytes;
  }
  slices.push({ start: start + begin, input: part(input, begin, count) });
  return slices;
}

function part(input: EmbeddingInput, from: number, to: number): EmbeddingInput {
  switch (input.form) {
    case 'texts':
      return { form: 'texts', items: input.items.slice(from, to) };
    case 'tokens':
      return { form: 'tokens', items: input.items.slice(from, to) };
    case 'multimodal':
      return { form: 'multimodal', items: input.items.slice(from, to) };
  }
}

function measure(
  input: EmbeddingInput,
  endpoint: ModelEndpoint,
): { readonly tokens: number; readonly bytes: number } {
  return {
    tokens: endpoint.maxTokensPerCall === undefined ? 0 : tokenBound(input, endpoint),
    bytes: endpoint.maxBytesPerCall === undefined ? 0 : Buffer.byteLength(JSON.stringify(input.items)),
  };
}
