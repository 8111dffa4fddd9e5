// Excludes endpoints whose limit per input is surely too small for an input of the call. An endpoint that may be large
// enough is tried: its own answer decides (docs/contract.md#routing).
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { leastTokens, mayExceed } from '../../catalogue/token-count.js';
import type { LeastTokens } from '../../catalogue/token-count.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { AppError } from '../../domain/errors.js';
import type { EndpointTarget } from '../endpoint-target.js';
import { sentMembers } from '../sent-members.js';

/** An input that surely exceeds the limit of an endpoint. */
interface LongInput extends LeastTokens {
  readonly index: number;
  readonly limit: number;
}

interface HasTarget {
  readonly target: EndpointTarget;
}

/**
 * The candidates that may have room for every input. When none has, those that truncate long inputs serve: their callers
 * rely on it. Throws `context_length_exceeded` when none of them does either. Synchronous unless an input is long.
 */
export function withRoomForInputs<Item extends HasTarget>(
  candidates: readonly Item[],
  request: EmbeddingRequest,
  pace: Pace,
): readonly Item[] | Promise<readonly Item[]> {
  const { items } = request.input;
  const isLong = ({ target }: Item): boolean => {
    const limit = limitOf(target);
    return items.some((item) => mayExceed(item, target.endpoint, limit));
  };
  return candidates.some(isLong) ? excludeSmall(candidates, request, pace) : candidates;
}

async function excludeSmall<Item extends HasTarget>(
  candidates: readonly Item[],
  request: EmbeddingRequest,
  pace: Pace,
): Promise<readonly Item[]> {
  const longInputs = new Map<ModelEndpoint, LongInput | null>();
  for (const { target } of candidates) {
    if (!longInputs.has(target.endpoint))
      longInputs.set(target.endpoint, await findLongInput(target, request, pace));
  }
  const withRoom = candidates.filter(({ target }) => longInputs.get(target.endpoint) === null);
  if (withRoom.length > 0) return withRoom;
  const truncating = candidates.filter(({ target }) =>
    target.provider.truncatesLongInputs?.(sentMembers(target, request.extra).extra, target.endpoint),
  );
  if (truncating.length > 0) return truncating;
  throw tooLong(
    [...longInputs.values()].filter((found) => found !== null),
    candidates,
  );
}

async function findLongInput(
  target: EndpointTarget,
  { input: { items } }: EmbeddingRequest,
  pace: Pace,
): Promise<LongInput | null> {
  const limit = limitOf(target);
  for (const [index, item] of items.entries()) {
    if (!mayExceed(item, target.endpoint, limit)) continue;
    const least = await leastTokens(items, index, target.endpoint);
    if (least.tokens > limit) return { ...least, index, limit };
    if (pace.isDue) await pace.yieldNow();
  }
  return null;
}

function limitOf({ endpoint, model }: EndpointTarget): number {
  return Math.min(endpoint.maxTokensPerInput, model.contextLength);
}

/** Names the input that exceeds the largest limit. */
function tooLong(found: readonly LongInput[], candidates: readonly HasTarget[]): AppError {
  const [largest] = found.toSorted((one, other) => other.limit - one.limit);
  const model = candidates[0]?.target.model.id ?? 'the model';
  if (!largest) return new AppError('context_length_exceeded');
  const { index, tokens, isExact, limit } = largest;
  return new AppError('context_length_exceeded', {
    inputIndex: index,
    detail: `has ${isExact ? '' : 'at least '}${tokens} tokens, and ${model} takes at most ${limit}`,
    metadata: { input_index: index, input_tokens: tokens, max_input_tokens: limit },
  });
}
