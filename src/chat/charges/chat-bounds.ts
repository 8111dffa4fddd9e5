// The reservation of a chat call over all endpoints that may serve it: the dearest counts.
import { countTextTokens } from '../../catalogue/text-tokens.js';
import type { Tokenizer } from '../../catalogue/text-tokens.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { noKnownPrice } from '../../routing/bounded-price.js';
import type { ChatTarget } from '../../routing/endpoints/endpoint-target.js';
import { sumOfDearest } from '../../spend/dearest-endpoint.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';
import { greatestChatCost } from './chat-bound.js';
import type { BoundedCall } from './chat-bound.js';
import { promptTexts } from './prompt-size.js';
import type { PromptSize } from './prompt-size.js';

export interface ReservedCall extends BoundedCall {
  readonly request: ChatRequest;
}

/** Throws `not_found` where a shared endpoint has no known price. */
export function boundsOfChat(targets: readonly ChatTarget[], call: ReservedCall, pace: Pace): SpendBounds {
  return {
    quick: () => dearest(targets, (target) => greatestChatCost(call, target.endpoint)),
    // Tokens are counted where the tokenizer is known: a text has far fewer tokens than bytes.
    exact: async () => {
      const sizes = new Map<Tokenizer | null, PromptSize>([[null, call.size]]);
      for (const { model } of targets)
        if (!sizes.has(model.tokenizer) && model.tokenizer !== null)
          sizes.set(model.tokenizer, await countedSize(call, model.tokenizer, pace));
      return dearest(targets, ({ model, endpoint }) =>
        greatestChatCost({ ...call, size: sizes.get(model.tokenizer) ?? call.size }, endpoint),
      );
    },
  };
}

/**
 * Targets without their dearest ones, once for each price: a limit may allow the cheaper endpoints. Cheapest last, and after
 * them own provider keys alone, whose cost most limits leave out.
 */
export function cheaperTargets(targets: readonly ChatTarget[], call: ReservedCall): ChatTarget[][] {
  const costs = new Map(targets.map((target) => [target, greatestChatCost(call, target.endpoint) ?? 0n]));
  const costOf = (target: ChatTarget): bigint => costs.get(target) ?? 0n;
  const levels = [...new Set(costs.values())].toSorted((one, other) => Number(other - one));
  const cheaper = levels.slice(1).map((most) => targets.filter((target) => costOf(target) <= most));
  const own = targets.filter(({ credential }) => credential !== null);
  return own.length === 0 || own.length === targets.length ? cheaper : [...cheaper, own];
}

function dearest(targets: readonly ChatTarget[], costOf: (target: ChatTarget) => bigint | null): SpendBound {
  const endpoints = targets.map((target) => ({ target, isShared: target.credential === null }));
  return sumOfDearest(
    endpoints,
    1,
    ({ target }) => costOf(target),
    () => {
      throw noKnownPrice(targets[0]?.model.id ?? '');
    },
  );
}

/** Only texts of the request are counted: all other bytes keep their bound. */
async function countedSize(call: ReservedCall, tokenizer: Tokenizer, pace: Pace): Promise<PromptSize> {
  const { request, size } = call;
  let bytes = 0;
  const texts = [...promptTexts(request)];
  for (const text of texts) bytes += Buffer.byteLength(text);
  const tokens = await countTextTokens(texts, tokenizer, pace);
  return { ...size, textBytes: Math.min(size.textBytes, Math.max(0, size.textBytes - bytes) + tokens) };
}
