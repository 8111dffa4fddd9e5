// One choice of an answer between its chunks.
import type { ChatChoice } from '../../../domain/chat/chat-outcome.js';
import type { OutputText, OutputTexts } from './output-texts.js';
import { ToolCalls } from './tool-calls.js';

export class ChoiceState {
  /** A delta of it has been relayed. */
  hasBegun = false;
  finishReason: string | null = null;
  nativeFinishReason: string | null = null;
  /** Its last chunk has an empty finish reason: it ends the choice when the stream ends. */
  hasEmptyFinish = false;
  hasContent = false;
  hasReasoning = false;
  hasRefusal = false;
  /** Signatures of its tool calls that have come. */
  signatureCount = 0;
  readonly content: OutputText;
  readonly reasoning: OutputText;
  readonly refusal: OutputText;
  readonly toolCalls: ToolCalls;

  constructor(
    readonly index: number,
    texts: OutputTexts,
    mapToolCallId: ((id: string) => string) | null,
    usedIds: Set<string>,
  ) {
    this.content = texts.create();
    this.reasoning = texts.create();
    this.refusal = texts.create();
    this.toolCalls = new ToolCalls(texts, mapToolCallId, usedIds);
  }

  toJSON(): ChatChoice {
    return {
      index: this.index,
      content: this.hasContent ? this.content.value : null,
      reasoning: this.hasReasoning ? this.reasoning.value : null,
      refusal: this.hasRefusal ? this.refusal.value : null,
      toolCalls: this.toolCalls.toJSON(),
      finishReason: this.finishReason,
      nativeFinishReason: this.nativeFinishReason,
    };
  }
}
