// Reads the frames of an AWS stream from bytes that may be cut anywhere, as EventReader reads server-sent events.
import { LargeValues } from '../../json/large-values.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import {
  failureIn,
  frameLength,
  PRELUDE_BYTES,
  readFrame,
} from '../../providers/shared/wires/event-frames.js';
import type { FrameTraits } from '../../providers/shared/chat-wire.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import { AT_ONCE } from './event-reader.js';
import type { ReadEvent } from './event-reader.js';

// Larger buffers are released with the frame that needed them.
const KEPT_BYTES = 4_096;

export class FrameReader {
  /** The beginning of a frame. */
  private readonly frame = new GrowingBuffer();
  private length = PRELUDE_BYTES;
  private hasPrelude = false;

  constructor(
    private readonly traits: FrameTraits,
    private readonly maxEventBytes: number,
    private readonly onEvent: ReadEvent,
  ) {}

  get heldBytes(): number {
    return this.frame.size;
  }

  /** Throws BrokenAnswer, AnswerBoundExceeded, and whatever `onEvent` throws. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const to = Math.min(chunk.length, at + this.length - this.frame.length);
      this.frame.append(chunk, at, to);
      at = to;
      if (this.frame.length === this.length) this.complete();
    }
  }

  /** Throws BrokenAnswer for a frame whose end has not come. */
  end(): void {
    if (this.frame.length > 0) throw new BrokenAnswer('the stream ended inside of a frame');
  }

  private complete(): void {
    const bytes = this.frame.bytes.subarray(0, this.length);
    if (!this.hasPrelude) {
      this.hasPrelude = true;
      this.length = frameLength(bytes);
      if (this.length > this.maxEventBytes)
        throw new AnswerBoundExceeded(`an event of the stream is larger than ${this.maxEventBytes} bytes`);
      return;
    }
    this.hasPrelude = false;
    this.length = PRELUDE_BYTES;
    // Documents are copies.
    this.frame.clear(KEPT_BYTES);
    this.dispatch(bytes);
  }

  private dispatch(bytes: Buffer): void {
    const frame = readFrame(bytes);
    const failure = failureIn(frame);
    if (failure !== null) {
      this.emit(failure, 'error');
      return;
    }
    const type = frame.headers.get(':event-type') ?? '';
    const document = this.traits.documentOf(type, frame.payload);
    if (document !== null) this.emit(document, 'message');
  }

  private emit(document: Buffer, kind: 'message' | 'error'): void {
    const { length } = document;
    const values = length > AT_ONCE ? new LargeValues(0, BrokenAnswer) : null;
    values?.run(document, length);
    const large = values?.ends ?? null;
    this.onEvent(document, 0, length, { kind, isOwned: true, isJoined: false, large });
  }
}
