// Writes whole answers of other wires in the Responses wire (docs/contract.md#responses-answer).
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import { responseObject } from '../clients/responses.js';
import type { Answer } from '../kernel/answer.js';
import type { AnswerEnd, PassageOptions } from './passage.js';
import { lastItemStatus, responseEnd } from './response-end.js';
import { ResponseItems } from './response-items.js';
import type { WholeWriter } from './translated-passage.js';

export class WholeResponsesWriter implements WholeWriter {
  private readonly items: ResponseItems;

  constructor(private readonly options: PassageOptions) {
    this.items = new ResponseItems(options, null);
  }

  opened(block: AnswerBlock, call?: ToolCallStart): void {
    this.items.opened(block, call);
  }

  grew(block: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    this.items.grew(block, bytes, from, to);
  }

  closed(block: AnswerBlock, opaque?: OpaqueReasoning): void {
    this.items.closed(block, opaque);
  }

  body(end: AnswerEnd, answer: Answer): readonly Buffer[] {
    this.items.close(lastItemStatus(answer));
    const { identity, responses } = this.options;
    return responseObject(identity, responses, responseEnd(end, answer, this.items.finished));
  }
}
