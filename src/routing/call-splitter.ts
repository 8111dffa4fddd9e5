// Splits the inputs of a call by the limits of an endpoint: count, tokens and bytes.
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { tokenBound } from '../catalogue/token-count.js';
import type { Work } from '../concurrency/yield-queue.js';
import type { EmbeddingInput, EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { EndpointTarget } from './endpoint-target.js';

/** Consecutive inputs; `start` is the index of the first in the caller's list. */
export interface Slice {
  readonly start: number;
  readonly input: EmbeddingInput;
}

/** The slices in order. One input above a limit stays a slice of its own, and the provider rejects it. */
export function splitCall(slice: Slice, target: EndpointTarget): Slice[] {
  if (fits(slice, target)) return [slice];
  const work = split(slice, target);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * The same in the pieces of work that `begin` starts: measuring the inputs of a large call takes a good part of a
 * second. A call that fits returns at once.
 */
export function splitCallYielding(
  slice: Slice,
  target: EndpointTarget,
  begin: () => Work,
): Slice[] | Promise<Slice[]> {
  return fits(slice, target) ? [slice] : begin().run(split(slice, target));
}

function needsMeasure({ maxTokensPerCall, maxBytesPerCall }: ModelEndpoint): boolean {
  return maxTokensPerCall !== undefined || maxBytesPerCall !== undefined;
}

function fits({ input }: Slice, target: EndpointTarget): boolean {
  return input.items.length <= maxInputsOf(target, input) && !needsMeasure(target.endpoint);
}

/** Yields after each measured input. */
function* split({ input, start }: Slice, target: EndpointTarget): Generator<undefined, Slice[]> {
  const { endpoint } = target;
  const count = input.items.length;
  const maxInputs = maxInputsOf(target, input);
  const isMeasured = needsMeasure(endpoint);
  const slices: Slice[] = [];
  let begin = 0;
  let tokens = 0;
  let bytes = 0;
  for (let index = 0; index < count; index++) {
    if (isMeasured) yield;
    const one = isMeasured ? measure(part(input, index, index + 1), endpoint) : { tokens: 0, bytes: 0 };
    const isFull =
      index - begin >= maxInputs ||
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

/** Null if the call fits or may be split, else the problem in words. */
export function splitProblem(target: EndpointTarget, { input, extra }: EmbeddingRequest): string | null {
  const { inputTyingMember: member } = target.provider;
  if (member === undefined || !mayTie(extra[member])) return null;
  if (splitCall({ start: 0, input }, target).length === 1) return null;
  const { maxTokensPerCall, maxBytesPerCall } = target.endpoint;
  const limits = [
    `${maxInputsOf(target, input)} inputs`,
    ...(maxTokensPerCall === undefined ? [] : [`${maxTokensPerCall} tokens`]),
    ...(maxBytesPerCall === undefined ? [] : [`${maxBytesPerCall} bytes`]),
  ].join(', ');
  return `${member}: needs all inputs in one call, and ${target.provider.name} takes at most ${limits} in one`;
}

/**
 * Some upstreams read 1 and "true" as true. Others reject such values, which should happen once and not for every
 * slice.
 */
function mayTie(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function maxInputsOf({ endpoint, provider }: EndpointTarget, { form }: EmbeddingInput): number {
  return Math.min(endpoint.maxInputsPerCall, provider.maxInputsByForm?.[form] ?? Infinity);
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
