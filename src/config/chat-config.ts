// The settings of chat calls (docs/operating.md#variables).
import type { EnvironmentReader } from './environment-reader.js';

/** Times in milliseconds. */
export interface ChatConfig {
  /** Until the headers of a stream. */
  readonly headersTimeout: number;
  /** From the headers of a stream to its first content. */
  readonly firstTokenTimeout: number;
  /** Without a byte after the first content. */
  readonly idleTimeout: number;
  /** Until the whole answer of an attempt without a stream. */
  readonly answerTimeout: number;
  /** Until the end of the whole call. */
  readonly deadline: number;
  /** Between comments to a waiting client; 0: none. */
  readonly keepAlive: number;
  /** Clients of the Responses wire get events instead, once their answer has begun. */
  readonly hasKeepAliveEvents: boolean;
  /** For usage after the client has left, where reasoning is hidden. */
  readonly drainTime: number;
  readonly maxDrains: number;
  /** `drain`: every stream is read to its end after its client has left. */
  readonly onDisconnect: 'auto' | 'drain';
  /** The output limit of calls that name none while a spend limit is in force. */
  readonly defaultMaxOutputTokens: number;
  readonly slowReaderTimeout: number;
  readonly maxEventBytes: number;
  /** Of a stream. */
  readonly maxAnswerBytes: number;
  /** Of an answer without a stream, which is kept until it is complete. */
  readonly maxWholeAnswerBytes: number;
  /** Concurrent chat calls to one endpoint. */
  readonly endpointConcurrency: number;
}

const MEBIBYTE = 2 ** 20;
const MINUTE = 60_000;
const LONGEST = 24 * 60 * MINUTE;
/**
 * Milliseconds of a call of any operation. The database counts a call on its own day if its record comes within an hour of its
 * start, and a record may be committed 10 minutes after the call. Later records would move to another day, and could be
 * charged twice.
 */
export const LONGEST_CALL = 45 * MINUTE;

export function readChatConfig(read: EnvironmentReader): ChatConfig {
  const maxAnswerBytes = read.integer('CHAT_MAX_ANSWER_BYTES', 64 * MEBIBYTE, 1_024, 2 ** 30);
  const wholeBytes = Math.min(16 * MEBIBYTE, maxAnswerBytes);
  return {
    headersTimeout: read.integer('CHAT_HEADERS_TIMEOUT_MS', MINUTE, 100, LONGEST),
    firstTokenTimeout: read.integer('CHAT_FIRST_TOKEN_TIMEOUT_MS', 5 * MINUTE, 100, LONGEST),
    idleTimeout: read.integer('CHAT_IDLE_TIMEOUT_MS', 2 * MINUTE, 100, LONGEST),
    answerTimeout: read.integer('CHAT_ANSWER_TIMEOUT_MS', 10 * MINUTE, 100, LONGEST),
    deadline: read.integer('CHAT_DEADLINE_MS', 30 * MINUTE, 100, LONGEST_CALL),
    keepAlive: read.integer('CHAT_KEEPALIVE_MS', 15_000, 0, LONGEST),
    hasKeepAliveEvents: read.choice('CHAT_KEEPALIVE_EVENTS', ['0', '1'], '0') === '1',
    drainTime: read.integer('CHAT_DRAIN_MS', 30_000, 0, LONGEST),
    maxDrains: read.integer('CHAT_MAX_DRAINS', 256, 0, 1_000_000),
    onDisconnect: read.choice('CHAT_ON_DISCONNECT', ['auto', 'drain'], 'auto'),
    defaultMaxOutputTokens: read.integer('CHAT_DEFAULT_MAX_OUTPUT_TOKENS', 32_768, 1, 1e9),
    slowReaderTimeout: read.integer('CHAT_SLOW_READER_TIMEOUT_MS', MINUTE, 100, LONGEST),
    maxEventBytes: read.integer('CHAT_MAX_EVENT_BYTES', 8 * MEBIBYTE, 1_024, 2 ** 30),
    maxAnswerBytes,
    maxWholeAnswerBytes: read.integer('CHAT_MAX_WHOLE_ANSWER_BYTES', wholeBytes, 1_024, 2 ** 30),
    endpointConcurrency: read.integer('CHAT_ENDPOINT_CONCURRENCY', 1_024, 1, 100_000),
  };
}
