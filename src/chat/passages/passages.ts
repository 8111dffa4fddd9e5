// Chooses the passage of an answer: the bytes of one wire, or a translation through the kernel.
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import { ChatPassage, WholeChatPassage } from './chat-passage.js';
import { ChatWriter, WholeChatWriter } from './chat-writer.js';
import { MessagesPassage, WholeMessagesPassage } from './messages-passage.js';
import { MessagesWriter, WholeMessagesWriter } from './messages-writer.js';
import type { PassageOptions, StreamPassage, WholePassage } from './passage.js';
import { ResponsesPassage, WholeResponsesPassage } from './responses-passage.js';
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

const PASSAGES: Readonly<Record<ModelWire, WirePassages>> = {
  chat: { stream: ChatPassage, whole: WholeChatPassage },
  messages: { stream: MessagesPassage, whole: WholeMessagesPassage },
  responses: { stream: ResponsesPassage, whole: WholeResponsesPassage },
};

const WRITERS: Readonly<Record<ModelWire, WireWriters>> = {
  chat: { stream: ChatWriter, whole: WholeChatWriter },
  messages: { stream: MessagesWriter, whole: WholeMessagesWriter },
  responses: { stream: ResponsesWriter, whole: WholeResponsesWriter },
};

/** `output` receives the events of the client. */
export function streamPassage(options: PassageOptions, output: GrowingBuffer): StreamPassage {
  const { client, choiceCount } = options;
  if (passes(options)) return new PASSAGES[client].stream(options, new Answer(choiceCount), output);
  return new TranslatedPassage(options, new WRITERS[client].stream(options, output));
}

export function wholePassage(options: PassageOptions): WholePassage {
  const { client, choiceCount } = options;
  if (passes(options)) return new PASSAGES[client].whole(options, new Answer(choiceCount));
  return new TranslatedWhole(options, new WRITERS[client].whole(options));
}

function passes({ client, wire, isTranslated = false }: PassageOptions): boolean {
  return client === wire.protocol && !isTranslated;
}
