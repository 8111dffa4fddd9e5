// The usage of a call by the way it ended: reported, counted or estimated (docs/contract.md#chat-spend).
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { countedChatUsage, normaliseChatUsage } from '../../domain/chat/chat-usage.js';
import type { ChatUsage, ReportedChatUsage, UsageSource } from '../../domain/chat/chat-usage.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { atLeast, countPrompt } from '../charges/counted-prompt.js';
import type { PromptSize } from '../charges/prompt-size.js';
import { countOutputTokens } from '../stream/output-count.js';
import type { OutputCount } from '../stream/output-count.js';

/** `cut`: the client left, and the provider's work was ended. `unknown`: the same where text alone does not show the tokens. */
export type EndingKind = 'complete' | 'failed' | 'cut' | 'unknown';

/** An answer as far as it has come. */
export interface ReceivedAnswer {
  readonly choices: readonly ChatChoice[];
  readonly usage: ReportedChatUsage | null;
  readonly outputCount: OutputCount;
  readonly serviceTier: string | null;
  readonly upstreamId: string | null;
}

export interface UsageFacts {
  readonly request: ChatRequest;
  readonly size: PromptSize;
  readonly target: ChatTarget;
  /** The most tokens that the reservation covers as output. */
  readonly outputBound: number;
  /** Since the request was sent. */
  readonly seconds: number;
}

export interface SettledUsage {
  readonly usage: ChatUsage;
  readonly source: UsageSource;
  /** False: parts of a report exceeded their total, or it had numbers that are no counts. */
  readonly isConsistent: boolean;
}

export const NO_ANSWER: ReceivedAnswer = {
  choices: [],
  usage: null,
  outputCount: { texts: [], factor: 1 },
  serviceTier: null,
  upstreamId: null,
};

// Hidden tokens a second of each choice that an estimate assumes: more than most models make.
const ESTIMATED_RATE = 200;

export async function usageOf(
  kind: EndingKind,
  received: ReceivedAnswer,
  facts: UsageFacts,
  pace: Pace,
): Promise<SettledUsage> {
  const { usage: reported } = received;
  const normalised = reported && normaliseChatUsage(reported);
  // Usage before the end is a lower bound: it counts for complete and for failed answers only.
  if (normalised && (kind === 'complete' || kind === 'failed'))
    return { usage: normalised.usage, source: 'reported', isConsistent: normalised.isConsistent };
  if (kind === 'failed') return { usage: countedChatUsage(0, 0), source: 'none', isConsistent: true };
  const counted = atLeast(await count(received, facts, pace), normalised?.usage);
  const isConsistent = reported === null || kind !== 'complete';
  if (kind !== 'unknown') return { usage: counted, source: 'counted', isConsistent };
  const { request, outputBound, seconds } = facts;
  const hidden = Math.ceil(seconds * ESTIMATED_RATE * request.choiceCount);
  const completion = Math.min(outputBound, counted.completionTokens + hidden);
  return { usage: countedChatUsage(counted.promptTokens, completion), source: 'estimated', isConsistent };
}

async function count(
  { outputCount }: ReceivedAnswer,
  { request, size, target }: UsageFacts,
  pace: Pace,
): Promise<ChatUsage> {
  const prompt = await countPrompt(request, size, target, pace);
  return countedChatUsage(prompt, await countOutputTokens(outputCount, target.model.tokenizer, pace));
}
