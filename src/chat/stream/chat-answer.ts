// Reads a whole answer by the rules of the stream, in turns where it is long.
import { isUtf8 } from 'node:buffer';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { isEventStream, parseErrorBody } from '../../providers/shared/wire.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import { LargeValues } from '../../json/large-values.js';
import { wholePassage } from '../passages/passages.js';
import type { AnswerEnd, PassageOptions } from '../passages/passage.js';
import { brokenAnswer } from './chat-failure.js';
import type { ChatFailure } from './chat-failure.js';
import type { OutputCount } from '../kernel/output-texts.js';

export interface ChatAnswer {
  readonly choices: readonly ChatChoice[];
  readonly usage: ReportedChatUsage | null;
  readonly serviceTier: string | null;
  readonly upstreamId: string | null;
  readonly signatures: readonly string[];
  readonly outputCount: OutputCount;
  /** Whether the provider's answer had to be repaired. */
  readonly isOutOfOrder: boolean;
  /** The body for the client in pieces, once its usage is known. */
  body(end: AnswerEnd): readonly Buffer[];
}

export interface FailedAnswer {
  readonly failure: ChatFailure;
  /** The bound of this service that the answer has exceeded: its failure is not the provider's; null: none. */
  readonly boundExceeded: string | null;
  /** The provider bills it all the same. */
  readonly usage: ReportedChatUsage | null;
}

// Bytes that are read in one turn: a longer answer is measured piece by piece first.
const AT_ONCE = 262_144;

/** The body of a success, decompressed. */
export async function readChatAnswer(
  body: Buffer,
  options: PassageOptions,
  pace: Pace,
): Promise<{ readonly answer: ChatAnswer } | FailedAnswer> {
  const { wire } = options;
  const bytes = isUtf8(body) ? body : await repaired(body, pace);
  const passage = wholePassage(options);
  const { answer } = passage;
  const failed = (failure: ChatFailure, boundExceeded: string | null = null): FailedAnswer => ({
    failure,
    boundExceeded,
    usage: answer.usageSnapshot,
  });
  try {
    const from = byteOrderMark(bytes);
    const large = bytes.length > AT_ONCE ? await largeValues(bytes, from, pace) : null;
    const isAnswer = passage.read(bytes, from, bytes.length, large);
    if (answer.stated !== null) return failed({ kind: 'provider_error', error: answer.stated });
    if (!isAnswer) return failed(brokenAnswer('the answer has no choices'));
  } catch (error) {
    if (error instanceof AnswerBoundExceeded) return failed(brokenAnswer(error.message), error.message);
    if (!(error instanceof BrokenAnswer)) throw error;
    const response = { status: 200, headers: {}, body: bytes };
    if (!isEventStream(bytes)) return failed(brokenAnswer(error.message));
    const { error: stated } = parseErrorBody(response);
    if (stated) return failed({ kind: 'provider_error', error: wire.readError(response) });
    return failed(brokenAnswer('the answer is a stream'));
  }
  return {
    answer: {
      choices: answer.toJSON(),
      usage: answer.usageSnapshot,
      serviceTier: answer.tier,
      upstreamId: answer.upstreamId,
      signatures: answer.signatures,
      outputCount: answer.outputCount,
      isOutOfOrder: answer.repairs > 0,
      body: (end) => passage.body(end),
    },
  };
}

async function largeValues(bytes: Buffer, from: number, pace: Pace): Promise<ReadonlyMap<number, number>> {
  const values = new LargeValues(from, BrokenAnswer);
  for (let until = from + AT_ONCE; !values.run(bytes, bytes.length, until); until += AT_ONCE)
    if (pace.isDue) await pace.yieldNow();
  if (pace.isDue) await pace.yieldNow();
  return values.ends;
}

/** Replaces bytes that are not UTF-8 by the replacement character. */
async function repaired(body: Buffer, pace: Pace): Promise<Buffer> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; from += AT_ONCE) {
    const to = from + AT_ONCE;
    pieces.push(Buffer.from(decoder.decode(body.subarray(from, to), { stream: to < body.length })));
    if (pace.isDue) await pace.yieldNow();
  }
  return Buffer.concat(pieces);
}

function byteOrderMark(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}
