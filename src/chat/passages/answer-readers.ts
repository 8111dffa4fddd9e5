// The readers of the providers' wires, for answers whose client speaks another one.
import type { ProviderWire } from '../../domain/chat/model-wire.js';
import { JsonDocument } from '../../json/json-document.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { ConverseAnswerReader } from '../../providers/shared/wires/converse-answer.js';
import { ChatAnswerReader } from '../../providers/shared/wires/chat-answer.js';
import { GeminiAnswerReader } from '../../providers/shared/wires/gemini-answer.js';
import { MessagesAnswerReader } from '../../providers/shared/wires/messages-answer.js';
import { ResponsesAnswerReader } from '../../providers/shared/wires/responses-answer.js';
import type { Answer } from '../kernel/answer.js';
import type { EventData, EventResult, PassageOptions } from './passage.js';

type Large = EventData['large'];

/** Reads the events of a stream. */
export interface StreamReader {
  event(bytes: Buffer, from: number, to: number, large: Large): EventResult;
  done(): void;
  end(): void;
  release(): void;
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
        event: (bytes, from, to, large) =>
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
  messages: {
    stream: (options, answer) => {
      const reader = new MessagesAnswerReader(options, answer);
      return {
        event: (bytes, from, to, large) => {
          const type = reader.readEvent(bytes, from, to, large);
          return type === 'error' ? 'error' : type === 'message_stop' ? 'end' : 'more';
        },
        done: () => reader.done(),
        end: () => reader.end(),
        release: () => reader.release(),
      };
    },
    whole: (options, answer, bytes, from, to, large) => {
      new MessagesAnswerReader(options, answer, new JsonDocument(BrokenAnswer)).readWhole(
        bytes,
        from,
        to,
        large,
      );
      return true;
    },
  },
  converse: {
    stream: (_options, answer) => {
      const reader = new ConverseAnswerReader(answer);
      return {
        event: (bytes, from, to, large) => (reader.readEvent(bytes, from, to, large) ? 'end' : 'more'),
        done: () => reader.done(),
        end: () => reader.end(),
        release: () => reader.release(),
      };
    },
    whole: (_options, answer, bytes, from, to, large) => {
      new ConverseAnswerReader(answer, new JsonDocument(BrokenAnswer)).readWhole(bytes, from, to, large);
      return true;
    },
  },
  gemini: {
    stream: (options, answer) => {
      const reader = new GeminiAnswerReader(options, answer);
      return {
        event: (bytes, from, to, large) => (reader.read(bytes, from, to, large) ? 'more' : 'error'),
        done: () => reader.done(),
        end: () => reader.end(),
        release: () => reader.release(),
      };
    },
    whole: (options, answer, bytes, from, to, large) => {
      const reader = new GeminiAnswerReader(options, answer, new JsonDocument(BrokenAnswer));
      if (reader.read(bytes, from, to, large)) reader.end();
      return true;
    },
  },
  responses: {
    stream: (options, answer) => {
      const reader = new ResponsesAnswerReader(options, answer);
      return {
        event: (bytes, from, to, large) => reader.readEvent(bytes, from, to, large),
        done: () => reader.done(),
        end: () => reader.end(),
        release: () => reader.release(),
      };
    },
    whole: (options, answer, bytes, from, to, large) => {
      const reader = new ResponsesAnswerReader(options, answer, new JsonDocument(BrokenAnswer));
      reader.readWhole(bytes, from, to, large);
      return true;
    },
  },
};
