// Chooses the passage of an answer: the bytes of one wire, or a translation through the kernel.
import type { ModelWire, ProviderWire } from '../../domain/chat/model-wire.js';
import { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import { ChatPassage, WholeChatPassage } from './chat-passage.js';
import { ChatWriter, WholeChatWriter } from './chat-writer.js';
import { MessagesPassage, WholeMessagesPassage } from './messages-passage.js';
import { MessagesWriter, WholeMessagesWriter } from './messages-writer.js';
import type { PassageOptions, StreamPassage, WholePassage } from './passage.js';
import { ResponsesWriter } from './responses-writer.js';
import { WholeResponsesWriter } from './whole-responses-writer.js';
import { TranslatedPassage, TranslatedWhole } from './translated-passage.js';
import type { StreamWriter, WholeWriter } from './translated-passage.js';

interface WirePassages {
  readonly stream: new (options: PassageOptions, answer: Answer, output: GrowingBuffer) => StreamPassage;
  readonly whole: new (options: PassageOptions, answer: Answer) => WholePassage;
}

interface WireWriters {
  readonly stream: new (options: PassageOptions, output: GrowingBuffer) => StreamWriter;
  readonly whole: new (options: PassageOptions) => WholeWriter;
}

/** A provider's wire that is in front as well has one. */
const PASSAGES: Readonly<Partial<Record<ProviderWire, WirePassages>>> = {
  chat: { stream: ChatPassage, whole: WholeChatPassage },
  messages: { stream: MessagesPassage, whole: WholeMessagesPassage },
};

const WRITERS: Readonly<Record<ModelWire, WireWriters>> = {
  chat: { stream: ChatWriter, whole: WholeChatWriter },
  messages: { stream: MessagesWriter, whole: WholeMessagesWriter },
  responses: { stream: ResponsesWriter, whole: WholeResponsesWriter },
};

/** `output` receives the events of the client. */
export function streamPassage(options: PassageOptions, output: GrowingBuffer): StreamPassage {
  const { client, wire, choiceCount } = options;
  const passages = client === wire.protocol ? PASSAGES[client] : undefined;
  if (passages) return new passages.stream(options, new Answer(choiceCount), output);
  return new TranslatedPassage(options, new WRITERS[client].stream(options, output));
}

export function wholePassage(options: PassageOptions): WholePassage {
  const { client, wire, choiceCount } = options;
  const passages = client === wire.protocol ? PASSAGES[client] : undefined;
  if (passages) return new passages.whole(options, new Answer(choiceCount));
  return new TranslatedWhole(options, new WRITERS[client].whole(options));
}
