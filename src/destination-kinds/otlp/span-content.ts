// The content of one span as texts, each made when an attribute first reads it.
import type { GenerationTrace, TracedChatContent } from '../../domain/generations/generation-trace.js';
import { answersOf, completionOf, isChat, jsonOfContent, promptOf } from '../shared/chat-forms.js';
import { wellFormedText } from '../../domain/text/well-formed-json.js';
import { inputParts, olderInputParts, outputParts, systemParts, toolParts } from './chat-parts.js';
import { inputText } from './content-text.js';
import type { ContentText } from './content-text.js';

export class SpanContent {
  private readonly made = new Map<string, ContentText | null>();

  /** `maxLength`: characters of each text. */
  constructor(
    private readonly trace: GenerationTrace,
    private readonly maxLength: number,
  ) {}

  /** `{"input":[…]}` of embeddings, `{"messages":[…],"tools":[…]}` of a chat; null: unknown. */
  get input(): ContentText | null {
    const { input } = this.trace;
    if (input !== null) return this.once('input', () => inputText(input, this.maxLength));
    return this.ofChat('input', promptOf, ({ isInputTruncated }) => isInputTruncated);
  }

  /** The answers of a chat as messages: a single one bare. */
  get output(): ContentText | null {
    const form = (content: TracedChatContent): object => {
      const answers = answersOf(content);
      const [only, ...others] = answers;
      return only && others.length === 0 ? only : answers;
    };
    return this.ofChat('output', form, ({ isOutputTruncated }) => isOutputTruncated);
  }

  /** A chat as a completion of the wire, also without content. */
  get completion(): ContentText | null {
    const { trace } = this;
    if (!isChat(trace)) return null;
    const form = (content: TracedChatContent | null): object =>
      completionOf({ ...trace, chat: { ...trace.chat, content } });
    if (trace.chat.content !== null) return this.ofChat('completion', form);
    return this.once('completion', () => contentText(JSON.stringify(form(null))));
  }

  get inputMessages(): ContentText | null {
    return this.ofChat('inputMessages', inputParts);
  }

  /** For readers of the older conventions, whose results of tools have another name. */
  get olderInputMessages(): ContentText | null {
    return this.ofChat('olderInputMessages', olderInputParts);
  }

  get outputMessages(): ContentText | null {
    const unfinished = this.trace.chat?.isCancelled ? 'cancelled' : 'unknown';
    return this.ofChat('outputMessages', (content) => outputParts(content, unfinished));
  }

  get systemInstructions(): ContentText | null {
    return this.ofChat('systemInstructions', systemParts);
  }

  get toolDefinitions(): ContentText | null {
    return this.ofChat('toolDefinitions', toolParts);
  }

  /** Null for lists without elements as well: the chat has no such part. */
  private ofChat(
    name: string,
    form: (content: TracedChatContent) => object,
    isTruncated: (content: TracedChatContent) => boolean = () => false,
  ): ContentText | null {
    const content = this.trace.chat?.content ?? null;
    if (content === null) return null;
    return this.once(name, () => {
      const cut = jsonOfContent(content, this.maxLength, form);
      return cut.text === '[]' ? null : contentText(cut.text, cut.isTruncated || isTruncated(content));
    });
  }

  private once(name: string, make: () => ContentText | null): ContentText | null {
    let text = this.made.get(name);
    if (text === undefined) this.made.set(name, (text = make()));
    return text;
  }
}

function contentText(text: string, isTruncated = false): ContentText {
  return { text, json: wellFormedText(text), isTruncated };
}
