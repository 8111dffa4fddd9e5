// Blocks of an answer one after the other. Some wires have several open at a time, as Chat has parallel tool calls; others have one:
// what comes for another block waits until its turn, within the bound of the answer's bytes.
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import type { BlockListener } from './answer.js';
import { GrowingBuffer } from './growing-buffer.js';

interface WaitingBlock {
  readonly block: AnswerBlock;
  readonly call: ToolCallStart | undefined;
  readonly text: GrowingBuffer;
  isClosed: boolean;
  opaque: OpaqueReasoning | undefined;
}

export class BlockSequence implements BlockListener {
  private current: AnswerBlock | null = null;
  private waiting: WaitingBlock[] = [];

  constructor(private readonly next: BlockListener) {}

  opened(block: AnswerBlock, call?: ToolCallStart): void {
    if (this.current === null) this.begin(block, call);
    else this.waiting.push({ block, call, text: new GrowingBuffer(), isClosed: false, opaque: undefined });
  }

  grew(block: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    if (block === this.current) this.next.grew(block, bytes, from, to);
    else this.find(block)?.text.append(bytes, from, to);
  }

  closed(block: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (block !== this.current) {
      const waiting = this.find(block);
      if (waiting) Object.assign(waiting, { isClosed: true, opaque });
      return;
    }
    this.end(block, opaque);
    for (let first = this.waiting.shift(); first !== undefined; first = this.waiting.shift()) {
      this.begin(first.block, first.call);
      const { bytes, length } = first.text;
      if (length > 0) this.next.grew(first.block, bytes, 0, length);
      if (!first.isClosed) return;
      this.end(first.block, first.opaque);
    }
  }

  private begin(block: AnswerBlock, call: ToolCallStart | undefined): void {
    this.current = block;
    this.next.opened(block, call);
  }

  private end(block: AnswerBlock, opaque: OpaqueReasoning | undefined): void {
    this.current = null;
    this.next.closed(block, opaque);
  }

  private find(block: AnswerBlock): WaitingBlock | undefined {
    return this.waiting.find((each) => each.block === block);
  }
}
