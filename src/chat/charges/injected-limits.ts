// The output limits of calls under a spend limit that name none. Providers reject a prompt and a limit that exceed the
// context together, so that a limit is sent only where the prompt certainly leaves room for it (docs/contract.md#chat-spend).
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { mostOutput, NO_INJECTED_LIMITS } from './chat-bound.js';
import type { InjectedLimits } from './chat-bound.js';
import { countedSize } from './chat-bounds.js';
import type { CountedCall } from './chat-bounds.js';
import { promptBound } from './prompt-size.js';

/** Servers write tools and roles in forms of their own. */
const COUNT_MARGIN = 1.05;
/** A tokenizer that is not known makes at most twice the tokens of `o200k` of a usual text. */
const FOREIGN_COUNT_MARGIN = 2;

/** `defaultTokens`: null where no spend limit is in force. */
export async function injectedLimits(
  targets: readonly ChatTarget[],
  call: CountedCall,
  defaultTokens: number | null,
  pace: Pace,
): Promise<InjectedLimits> {
  if (defaultTokens === null || call.request.maxOutputTokens !== null) return NO_INJECTED_LIMITS;
  const limits = new Map<ChatEndpoint, number>();
  for (const target of targets) {
    const limit = await injectedLimit(target, call, defaultTokens, pace);
    if (limit !== null) limits.set(target.endpoint, limit);
  }
  return limits;
}

async function injectedLimit(
  target: ChatTarget,
  call: CountedCall,
  defaultTokens: number,
  pace: Pace,
): Promise<number | null> {
  const { endpoint } = target;
  const most = mostOutput(endpoint);
  const wanted = Math.min(defaultTokens, most);
  // The end of the context is the limit.
  if (wanted >= endpoint.contextLength - 1) return null;
  const room = await roomOf(target, call, wanted, pace);
  if (room >= wanted) return wanted;
  // Without a limit nothing more is reserved where the endpoint gives no more, and no answer is cut short.
  return wanted < most && room >= wanted / 2 ? room : null;
}

/** Tokens of the context that the prompt certainly leaves. Counts only where the bytes leave less than `wanted`. */
async function roomOf(
  { model: { tokenizer }, endpoint }: ChatTarget,
  call: CountedCall,
  wanted: number,
  pace: Pace,
): Promise<number> {
  const { size } = call;
  const room = endpoint.contextLength - promptBound(size, endpoint);
  if (room >= wanted) return room;
  const counted = await countedSize(call, tokenizer ?? 'o200k', pace);
  const margin = tokenizer === null ? FOREIGN_COUNT_MARGIN : COUNT_MARGIN;
  const textBytes = Math.min(size.textBytes, Math.ceil(counted.textBytes * margin));
  return endpoint.contextLength - promptBound({ ...size, textBytes }, endpoint);
}
