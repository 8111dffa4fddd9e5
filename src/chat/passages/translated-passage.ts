// Answers whose provider speaks another wire than their client: a reader of the provider's wire fills the kernel's answer, and a
// writer of the client's wire follows it. Neither knows the other.
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { ChatAnswerReader } from '../../providers/shared/wires/chat-answer.js';
import { MessagesAnswerReader } from '../../providers/shared/wires/messages-answer.js';
import { JsonDocument } from '../../json/json-document.js';
import type { ProviderWire } from '../../domain/chat/model-wire.js';
import type { FailedStream } from '../clients/client-wire.js';
import { Answer } from '../kernel/answer.js';
import type { BlockListener } from '../kernel/answer.js';
import { BlockSequence } from '../kernel/block-sequence.js';
import type {
  AnswerEnd,
  EventData,
  EventResult,
  PassageOptions,
  StreamPassage,
  WholePassage,
} from './passage.js';

/** The part of a wire that reads the events of a stream. */
interface StreamReader {
  event(bytes: Buffer, from: number, to: number, large: EventData['large']): EventResult;
  done(): void;
  end(): void;
  release(): void;
}

/** Writes a stream in the client's wire. */
export interface StreamWriter extends BlockListener {
  /** All blocks are closed. */
  end(answer: Answer): void;
  /** After the commit of the record. */
  last(end: AnswerEnd, answer: Answer): Buffer;
  /** As StreamPassage has them. */
  failed?(failed: FailedStream): Buffer | null;
  readonly heldBytes?: number;
}

/** Writes a whole answer in the client's wire. */
export interface WholeWriter extends BlockListener {
  body(end: AnswerEnd, answer: Answer): readonly Buffer[];
}

export class TranslatedPassage implements StreamPassage {
  readonly answer: Answer;
  private readonly reader: StreamReader;

  constructor(
    options: PassageOptions,
    private readonly writer: StreamWriter,
  ) {
    this.answer = new Answer(options.choiceCount, new BlockSequence(writer));
    this.reader = STREAM_READERS[options.wire.protocol](options, this.answer);
  }

  read(bytes: Buffer, from: number, to: number, { large }: EventData): EventResult {
    return this.reader.event(bytes, from, to, large);
  }

  done(): void {
    this.reader.done();
  }

  complete(): void {
    this.reader.end();
    this.writer.end(this.answer);
  }

  release(): void {
    this.reader.release();
  }

  last(end: AnswerEnd): Buffer {
    return this.writer.last(end, this.answer);
  }

  failed(failed: FailedStream): Buffer | null {
    return this.writer.failed?.(failed) ?? null;
  }

  get heldBytes(): number {
    return this.writer.heldBytes ?? 0;
  }
}

export class TranslatedWhole implements WholePassage {
  readonly answer: Answer;

  constructor(
    private readonly options: PassageOptions,
    private readonly writer: WholeWriter,
  ) {
    this.answer = new Answer(options.choiceCount, new BlockSequence(writer));
  }

  read(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): boolean {
    const json = new JsonDocument(BrokenAnswer);
    const { options, answer } = this;
    if (options.wire.protocol === 'messages') {
      new MessagesAnswerReader(options, answer, json).readWhole(bytes, from, to, large);
      return true;
    }
    const reader = new ChatAnswerReader({ ...options, isWhole: true }, answer, json);
    if (reader.read(bytes, from, to, large) === 'nothing') return false;
    if (answer.stated === null) reader.end();
    return true;
  }

  body(end: AnswerEnd): readonly Buffer[] {
    return this.writer.body(end, this.answer);
  }
}

const STREAM_READERS: Readonly<
  Record<ProviderWire, (options: PassageOptions, answer: Answer) => StreamReader>
> = {
  chat: (options, answer) => {
    const reader = new ChatAnswerReader({ ...options, isWhole: false }, answer);
    return {
      event: (bytes, from, to, large) => (reader.read(bytes, from, to, large) === 'error' ? 'error' : 'more'),
      done: () => reader.finishOpenChoices(),
      end: () => reader.end(),
      release: () => reader.release(),
    };
  },
  messages: (options, answer) => {
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
};
