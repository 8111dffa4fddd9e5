// The readers of the providers' wires, for answers whose client speaks another one.
import type { ProviderWire } from '../../domain/chat/model-wire.js';
import { JsonDocument } from '../../json/json-document.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import { ConverseAnswerReader } from '../../providers/shared/wires/converse-answer.js';
import { ChatAnswerReader } from '../../providers/shared/wires/chat-answer.js';
import { GeminiAnswerReader } from '../../providers/shared/wires/gemini-answer.js';
import { MessagesAnswerReader } from '../../providers/shared/wires/messages-answer.js';
import { ResponsesAnswerReader } from '../../providers/shared/wires/responses-answer.js';
import type { Answer } from '../kernel/answer.js';
import type { EventData, PassageOptions } from './passage.js';

type Large = EventData['large'];

/** Reads the events of a stream. */
export interface StreamReader {
  readEvent(bytes: Buffer, from: number, to: number, large: Large): EventResult;
  done(): void;
  end(): void;
  release(): void;
}

interface WholeReader {
  readWhole(bytes: Buffer, from: number, to: number, large: Large): unknown;
}

interface AnswerReaders {
  stream(options: PassageOptions, answer: Answer): StreamReader;
  /** Reads a whole answer, and ends it. Returns whether there is one. */
  whole(
    options: PassageOptions,
    answer: Answer,
    bytes: Buffer,
    from: number,
    to: number,
    large: Large,
  ): boolean;
}

export const ANSWER_READERS: Readonly<Record<ProviderWire, AnswerReaders>> = {
  chat: {
    stream: (options, answer) => {
      const reader = new ChatAnswerReader({ ...options, isWhole: false }, answer);
      return {
        readEvent: (bytes, from, to, large) =>
          reader.read(bytes, from, to, large) === 'error' ? 'error' : 'more',
        done: () => reader.finishOpenChoices(),
        end: () => reader.end(),
        release: () => reader.release(),
      };
    },
    whole: (options, answer, bytes, from, to, large) => {
      const json = new JsonDocument(BrokenAnswer);
      const reader = new ChatAnswerReader({ ...options, isWhole: true }, answer, json);
      if (reader.read(bytes, from, to, large) === 'nothing') return false;
      if (answer.stated === null) reader.end();
      return true;
    },
  },
  messages: readersOf((options, answer, json) => new MessagesAnswerReader(options, answer, json)),
  converse: readersOf((_options, answer, json) => new ConverseAnswerReader(answer, json)),
  gemini: readersOf((options, answer, json) => new GeminiAnswerReader(options, answer, json)),
  responses: readersOf((options, answer, json) => new ResponsesAnswerReader(options, answer, json)),
};

/** Of the wires whose whole answer says something always. */
function readersOf(
  create: (options: PassageOptions, answer: Answer, json?: JsonDocument) => StreamReader & WholeReader,
): AnswerReaders {
  return {
    stream: (options, answer) => create(options, answer),
    whole: (options, answer, bytes, from, to, large) => {
      create(options, answer, new JsonDocument(BrokenAnswer)).readWhole(bytes, from, to, large);
      return true;
    },
  };
}
