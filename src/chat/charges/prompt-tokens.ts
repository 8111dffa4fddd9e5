// Counts the tokens of a prompt, once for each tokenizer, and the bytes of the texts that have them: several stages and
// endpoints of a call need both.
import { countTextTokens, LONG_WORD } from '../../catalogue/text-tokens.js';
import type { Tokenizer } from '../../catalogue/text-tokens.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { messageTexts, promptTexts, settingTexts } from './prompt-size.js';

export interface PromptCount {
  /** Tokens of the messages alone: a provider never makes fewer of them. */
  readonly messages: number;
  /** With tools, the schema of the answer and the prediction. */
  readonly all: number;
}

// A word of more than 200 units is counted in parts, which may add a few tokens.
const LONG_WORD_TOLERANCE = 0.02;

export class PromptTokens {
  private readonly counts = new Map<Tokenizer, Promise<PromptCount>>();
  private bytes: number | null = null;

  constructor(private readonly request: ChatRequest) {}

  count(tokenizer: Tokenizer, pace: Pace): Promise<PromptCount> {
    let count = this.counts.get(tokenizer);
    if (count === undefined) this.counts.set(tokenizer, (count = this.countNow(tokenizer, pace)));
    return count;
  }

  /** The bytes of all texts that are counted. */
  get textBytes(): number {
    if (this.bytes === null) {
      this.bytes = 0;
      for (const text of promptTexts(this.request)) this.bytes += Buffer.byteLength(text);
    }
    return this.bytes;
  }

  /** Whether the messages alone certainly have more tokens than `limit`. */
  async exceeds(limit: number, tokenizer: Tokenizer, pace: Pace): Promise<boolean> {
    const { messages } = await this.count(tokenizer, pace);
    if (messages <= limit) return false;
    if (messages * (1 - LONG_WORD_TOLERANCE) > limit) return true;
    return [...messageTexts(this.request)].every((text) => !LONG_WORD.test(text));
  }

  private async countNow(tokenizer: Tokenizer, pace: Pace): Promise<PromptCount> {
    const messages = await countTextTokens(messageTexts(this.request), tokenizer, pace);
    return { messages, all: messages + (await countTextTokens(settingTexts(this.request), tokenizer, pace)) };
  }
}
