// The usage of a call by its ending: reported, counted or estimated (docs/contract.md#chat-usage).
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { countedChatUsage, normaliseChatUsage } from '../../domain/chat/chat-usage.js';
import type { ChatUsage, ReportedChatUsage, UsageSource } from '../../domain/chat/chat-usage.js';
import { ruleOf } from '../../domain/ending.js';
import type { Ending } from '../../domain/ending.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { bytesOfToken } from '../charges/answer-bytes.js';
import { atLeast, countPrompt } from '../charges/counted-prompt.js';
import type { PromptSize } from '../charges/prompt-size.js';
import type { ChatStreamRelay } from '../stream/chat-stream-relay.js';
import { countOutputTokens } from '../stream/output-count.js';
import type { OutputCount } from '../kernel/output-texts.js';

/** An answer as far as it has come. */
export interface ReceivedAnswer {
  readonly choices: readonly ChatChoice[];
  readonly usage: ReportedChatUsage | null;
  /** Its numbers of the prompt are final, also where the answer is not complete. */
  readonly hasExactPrompt: boolean;
  readonly outputCount: OutputCount;
  readonly serviceTier: string | null;
  readonly upstreamId: string | null;
  /** Every choice has its finish reason: usage is no snapshot of an earlier moment. */
  readonly isComplete: boolean;
  /** The provider has ended the answer, well or not, and makes no more tokens. */
  readonly isOver: boolean;
  /** Bytes of an answer that came and were not read, because they were too many. */
  readonly unreadBytes: number;
}

export interface UsageFacts {
  readonly request: ChatRequest;
  readonly size: PromptSize;
  readonly target: ChatTarget;
  /** The most tokens that the reservation covers as output. */
  readonly outputBound: number;
  /** Since the request was sent. */
  readonly seconds: number;
  /** The provider may have made tokens that have not come. */
  readonly hidesTokens: boolean;
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
  hasExactPrompt: false,
  outputCount: { texts: [], factor: 1, unreadBytes: 0 },
  serviceTier: null,
  upstreamId: null,
  isComplete: false,
  isOver: false,
  unreadBytes: 0,
};

const NO_USAGE: SettledUsage = { usage: countedChatUsage(0, 0), source: 'none', isConsistent: true };
// Hidden tokens a second of one choice that an estimate assumes: more than most models make.
const ESTIMATED_RATE = 200;

export function receivedBy(relay: ChatStreamRelay): ReceivedAnswer {
  return {
    choices: relay.choices(),
    usage: relay.usage,
    hasExactPrompt: relay.hasExactPrompt,
    outputCount: relay.outputCount(),
    serviceTier: relay.serviceTier,
    upstreamId: relay.upstreamId,
    isComplete: relay.hasFinishedChoices,
    isOver: relay.isFinished && relay.boundExceeded === null,
    unreadBytes: 0,
  };
}

export async function usageOf(
  ending: Ending,
  received: ReceivedAnswer,
  facts: UsageFacts,
  pace: Pace,
): Promise<SettledUsage> {
  const { isCharged, isCounted } = ruleOf(ending);
  const { usage: reported, isComplete } = received;
  const normalised = reported && normaliseChatUsage(reported);
  const isFinal = ending === 'completed' || isComplete;
  if (normalised && (isFinal || !isCharged))
    return { usage: normalised.usage, source: 'reported', isConsistent: normalised.isConsistent };
  if (!isCounted) return NO_USAGE;
  const made = await count(received, facts, pace);
  const exact = received.hasExactPrompt ? withExactPrompt(reported, made) : null;
  // Other usage in the middle of an answer is a lower bound.
  const counted = exact ?? atLeast(made, normalised?.usage);
  const isConsistent = reported === null || !isFinal;
  const unseen = unseenTokens(received, facts);
  if (unseen === 0) return { usage: counted, source: 'counted', isConsistent };
  const estimate = Math.min(facts.outputBound, counted.completionTokens + unseen);
  return { usage: { ...counted, completionTokens: estimate }, source: 'estimated', isConsistent };
}

/** The prompt as it is reported, with its parts; the completion as it is counted. */
function withExactPrompt(
  reported: ReportedChatUsage | null,
  { completionTokens }: ChatUsage,
): ChatUsage | null {
  const whole = reported && normaliseChatUsage({ ...reported, completionTokens, reasoningTokens: null });
  return whole && whole.usage;
}

/** An estimate of the tokens that the provider made beside those that were read. */
function unseenTokens(
  { unreadBytes }: ReceivedAnswer,
  { request, seconds, hidesTokens }: UsageFacts,
): number {
  const byTime = hidesTokens ? Math.ceil(seconds * ESTIMATED_RATE * request.choiceCount) : 0;
  return Math.max(byTime, Math.ceil(unreadBytes / bytesOfToken(request)));
}

async function count(
  { outputCount }: ReceivedAnswer,
  { request, size, target }: UsageFacts,
  pace: Pace,
): Promise<ChatUsage> {
  const prompt = await countPrompt(request, size, target, pace);
  return countedChatUsage(prompt, await countOutputTokens(outputCount, target.model.tokenizer, pace));
}
