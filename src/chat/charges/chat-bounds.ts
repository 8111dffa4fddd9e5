// The reservation of a chat call over all endpoints that may serve it: the most expensive counts.
import type { Tokenizer } from '../../catalogue/text-tokens.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { AppError } from '../../domain/errors.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { noKnownPrice } from '../../routing/bounded-price.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { sumOfMostExpensive } from '../../spend/most-expensive-endpoint.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';
import { affordableOutput, greatestChatCost, NO_INJECTED_LIMITS, sentOutputLimit } from './chat-bound.js';
import type { BoundedCall } from './chat-bound.js';
import type { PromptSize } from './prompt-size.js';
import type { PromptTokens } from './prompt-tokens.js';

export interface ReservedCall extends BoundedCall {
  readonly request: ChatRequest;
  readonly tokens: PromptTokens;
}

export type CountedCall = Pick<ReservedCall, 'request' | 'size' | 'tokens'>;

/** Throws `not_found` where a shared endpoint has no known price. */
export function boundsOfChat(targets: readonly ChatTarget[], call: ReservedCall, pace: Pace): SpendBounds {
  return {
    quick: () => mostExpensive(targets, (target) => greatestChatCost(call, target.endpoint)),
    // Tokens are counted where the tokenizer is known: a text has far fewer tokens than bytes.
    exact: async () => {
      const sizes = await countedSizes(targets, call, pace);
      return mostExpensive(targets, ({ model, endpoint }) =>
        greatestChatCost({ ...call, size: sizes.get(model.tokenizer) ?? call.size }, endpoint),
      );
    },
  };
}

/** The largest output limit for which one of the targets costs at most `most`. */
export async function affordableOutputTokens(
  targets: readonly ChatTarget[],
  call: ReservedCall,
  most: PicoUsd,
  pace: Pace,
): Promise<number> {
  const sizes = await countedSizes(targets, call, pace);
  return targets.reduce((largest, { model, endpoint }) => {
    const size = sizes.get(model.tokenizer) ?? call.size;
    return Math.max(largest, affordableOutput({ ...call, size }, endpoint, most));
  }, 0);
}

/**
 * The targets whose context the prompt may fit. A prompt without room in any of them is rejected before a provider is
 * called: throws `context_length_exceeded`. Where the tokenizer is unknown, the provider decides.
 */
export async function withinContext(
  targets: readonly ChatTarget[],
  { request, tokens, size }: CountedCall,
  pace: Pace,
): Promise<readonly ChatTarget[]> {
  const left: ChatTarget[] = [];
  let error: AppError | null = null;
  for (const target of targets) {
    const { tokenizer } = target.model;
    const output = heldOutput(target, request);
    const limit = target.endpoint.contextLength - output;
    const mayExceed = tokenizer !== null && size.textBytes > limit;
    if (!mayExceed || !(await tokens.exceeds(limit, tokenizer, pace))) left.push(target);
    else error ??= contextExceeded((await tokens.count(tokenizer, pace)).messages, target, output);
  }
  if (left.length === 0 && error) throw error;
  return left;
}

/** Tokens of the context that the provider keeps for the output limit of the caller. */
function heldOutput({ wire, endpoint }: ChatTarget, request: ChatRequest): number {
  if (!('protocol' in wire) || wire.contextHoldsOutput !== true) return 0;
  return sentOutputLimit({ request, injectedLimits: NO_INJECTED_LIMITS }, endpoint) ?? 0;
}

function contextExceeded(tokens: number, { model, endpoint }: ChatTarget, output: number): AppError {
  const { contextLength } = endpoint;
  const held = output === 0 ? '' : `, the output limit of ${output} included`;
  return new AppError('context_length_exceeded', {
    member: 'messages',
    detail: `have ${tokens} tokens, and ${model.id} takes at most ${contextLength}${held}`,
    metadata: { input_tokens: tokens, max_input_tokens: Math.max(0, contextLength - output) },
  });
}

/**
 * Targets without their most expensive ones, once for each price: a limit may allow the cheaper endpoints. Cheapest last,
 * and after them own provider keys alone, whose cost most limits leave out.
 */
export function cheaperTargets(targets: readonly ChatTarget[], call: ReservedCall): ChatTarget[][] {
  const costs = new Map(targets.map((target) => [target, greatestChatCost(call, target.endpoint) ?? 0n]));
  const costOf = (target: ChatTarget): bigint => costs.get(target) ?? 0n;
  const levels = [...new Set(costs.values())].toSorted((one, other) => Number(other - one));
  const cheaper = levels.slice(1).map((most) => targets.filter((target) => costOf(target) <= most));
  const own = targets.filter(({ credential }) => credential !== null);
  return own.length === 0 || own.length === targets.length ? cheaper : [...cheaper, own];
}

function mostExpensive(
  targets: readonly ChatTarget[],
  costOf: (target: ChatTarget) => bigint | null,
): SpendBound {
  const endpoints = targets.map((target) => ({ target, isShared: target.credential === null }));
  return sumOfMostExpensive(
    endpoints,
    1,
    ({ target }) => costOf(target),
    () => {
      throw noKnownPrice(targets[0]?.model.id ?? '');
    },
  );
}

/** By tokenizer. */
async function countedSizes(
  targets: readonly ChatTarget[],
  call: ReservedCall,
  pace: Pace,
): Promise<ReadonlyMap<Tokenizer | null, PromptSize>> {
  const sizes = new Map<Tokenizer | null, PromptSize>();
  for (const { model } of targets)
    if (model.tokenizer !== null && !sizes.has(model.tokenizer))
      sizes.set(model.tokenizer, await countedSize(call, model.tokenizer, pace));
  return sizes;
}

/** Only texts of the request are counted: all other bytes keep their bound. */
export async function countedSize(call: CountedCall, tokenizer: Tokenizer, pace: Pace): Promise<PromptSize> {
  const { size, tokens } = call;
  const { all } = await tokens.count(tokenizer, pace);
  const uncounted = Math.max(0, size.textBytes - tokens.textBytes);
  return { ...size, textBytes: Math.min(size.textBytes, uncounted + all) };
}
