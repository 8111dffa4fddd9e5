// Reserves the maximum cost of a chat call (docs/contract.md#chat-spend).
import type { CancelSignal } from '../../concurrency/cancellation.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import { AppError } from '../../domain/errors.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { CallSpend } from '../../spend/call-spend.js';
import { affordableOutputTokens, boundsOfChat, cheaperTargets } from './chat-bounds.js';
import type { ReservedCall } from './chat-bounds.js';

/**
 * Returns the targets that the reservation covers: the most expensive ones are left out where the limit does not allow
 * them. Waits for money that other calls have reserved, until `signal` ends the wait. Throws when no target fits the
 * limit, with the output that would.
 */
export async function reserveChat(
  spend: CallSpend,
  targets: readonly ChatTarget[],
  call: ReservedCall,
  pace: Pace,
  signal: CancelSignal,
): Promise<readonly ChatTarget[]> {
  const cheaper = cheaperTargets(targets, call);
  for (const some of [targets, ...cheaper].slice(0, -1))
    if (await spend.tryReserve(boundsOfChat(some, call, pace), signal)) return some;
  const cheapest = cheaper.at(-1) ?? targets;
  try {
    await spend.reserve(boundsOfChat(cheapest, call, pace), signal);
  } catch (error) {
    if (!(error instanceof AppError) || error.shortfall === null) throw error;
    const { owner, unspent } = error.shortfall;
    const affordable = await affordableOutputTokens(cheapest, call, unspent, pace);
    const refused = error.withMetadata({ limit: owner.kind, affordable_output_tokens: affordable });
    throw call.request.maxOutputTokens === null ? refused.withAffordableTokens(affordable) : refused;
  }
  return cheapest;
}
