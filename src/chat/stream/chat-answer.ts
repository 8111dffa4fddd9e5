// Reads a whole answer by the rules of the stream, and splices it in the same way.
import { isUtf8 } from 'node:buffer';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { brokenAnswer } from './chat-failure.js';
import type { ChatFailure } from './chat-failure.js';
import type { RelayOptions } from './chat-stream-relay.js';
import { GrowingBuffer } from './growing-buffer.js';
import type { OutputCount } from './output-count.js';
import { statedError } from './provider-errors.js';
import { AnswerScanner } from './splice/answer-scanner.js';
import { BrokenChunk } from './splice/object-splicer.js';
import type { StreamIdentity } from './stream-events.js';

export interface ChatAnswer {
  readonly choices: readonly ChatChoice[];
  readonly isOutputCut: boolean;
  readonly usage: ReportedChatUsage | null;
  readonly serviceTier: string | null;
  readonly upstreamId: string | null;
  readonly outputCount: OutputCount;
  /** The body for the client, once its usage is known. Further members: `openrouter_metadata`. */
  bodyWith(members: { readonly usage?: object } & Readonly<Record<string, unknown>>): Buffer;
}

export interface FailedAnswer {
  readonly failure: ChatFailure;
  /** The provider bills it all the same. */
  readonly usage: ReportedChatUsage | null;
  /** The bound of this service that the answer has exceeded; null or absent: none. */
  readonly boundExceeded?: string | null;
}

export type AnswerOptions = Pick<RelayOptions, 'identity' | 'wire' | 'excludesReasoning'>;

const EVENT_STREAM = /^\s*(?:data|event|id|retry)?:/;

/** The body of a success, decompressed. */
export function readChatAnswer(
  body: Buffer,
  options: AnswerOptions,
): { readonly answer: ChatAnswer } | FailedAnswer {
  const { wire, excludesReasoning } = options;
  const bytes = isUtf8(body) ? body : Buffer.from(body.toString());
  const scanner = new AnswerScanner({ wire, excludesReasoning, isWhole: true });
  try {
    const result = scanner.scan(bytes, byteOrderMark(bytes), bytes.length);
    if (result === 'error') {
      const { usage } = scanner;
      return { failure: { kind: 'provider_error', error: statedError(bytes, wire) }, usage };
    }
    if (result === 'empty')
      return { failure: brokenAnswer('the answer has no choices'), usage: scanner.usage };
  } catch (error) {
    if (!(error instanceof BrokenChunk)) throw error;
    const isStream = EVENT_STREAM.test(bytes.toString('latin1', 0, 100));
    return { failure: brokenAnswer(isStream ? 'the answer is a stream' : error.message), usage: null };
  }
  return { answer: answerOf(scanner, options.identity) };
}

function answerOf(scanner: AnswerScanner, identity: StreamIdentity): ChatAnswer {
  const output = new GrowingBuffer();
  scanner.copyTo(output);
  scanner.release();
  const { keptTexts, shareOfKept, isCut } = scanner.outputTexts;
  const { id, model, provider } = identity;
  const created = scanner.created ?? identity.created;
  const start = JSON.stringify({ id, object: 'chat.completion', created, model, provider });
  const fingerprint = scanner.hasStatedFingerprint ? {} : { system_fingerprint: null };
  return {
    choices: scanner.outputChoices(),
    isOutputCut: isCut,
    usage: scanner.usage,
    serviceTier: scanner.serviceTier,
    upstreamId: scanner.upstreamId,
    outputCount: { texts: keptTexts, factor: shareOfKept },
    bodyWith: (members) => {
      const end = JSON.stringify({ ...fingerprint, ...members }).slice(1);
      return Buffer.concat([
        Buffer.from(`${start.slice(0, -1)},`),
        output.bytes.subarray(0, output.length),
        Buffer.from(end === '}' ? end : `,${end}`),
      ]);
    },
  };
}

function byteOrderMark(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}
