// Answers whose provider speaks another wire than their client: a reader of the provider's wire fills the kernel's answer, and a
// writer of the client's wire follows it. Neither knows the other.
import type { EventResult } from '../../providers/shared/wires/answer-events.js';
import type { FailedStream } from '../clients/client-wire.js';
import { Answer } from '../kernel/answer.js';
import type { BlockListener } from '../kernel/answer.js';
import { BlockSequence } from '../kernel/block-sequence.js';
import { ANSWER_READERS } from './answer-readers.js';
import type { StreamReader } from './answer-readers.js';
import type { AnswerEnd, EventData, PassageOptions, StreamPassage, WholePassage } from './passage.js';

/** Writes a stream in the client's wire. */
export interface StreamWriter extends BlockListener {
  /** All blocks are closed. */
  end(answer: Answer): void;
  /** After the commit of the record. */
  last(end: AnswerEnd, answer: Answer): Buffer;
  /** As StreamPassage has them. */
  failed?(failed: FailedStream): Buffer | null;
  keepAlive?(): Buffer | null;
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
    this.reader = ANSWER_READERS[options.wire.protocol].stream(options, this.answer);
  }

  read(bytes: Buffer, from: number, to: number, { large }: EventData): EventResult {
    return this.reader.readEvent(bytes, from, to, large);
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

  keepAlive(): Buffer | null {
    return this.writer.keepAlive?.() ?? null;
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
    return ANSWER_READERS[this.options.wire.protocol].whole(
      this.options,
      this.answer,
      bytes,
      from,
      to,
      large,
    );
  }

  body(end: AnswerEnd): readonly Buffer[] {
    return this.writer.body(end, this.answer);
  }
}
