// Chooses the passage of an answer: the bytes of one wire, or a translation through the kernel.
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import { ChatPassage, WholeChatPassage } from './chat-passage.js';
import { ChatWriter, WholeChatWriter } from './chat-writer.js';
import { MessagesPassage, WholeMessagesPassage } from './messages-passage.js';
import { MessagesWriter, WholeMessagesWriter } from './messages-writer.js';
import type { PassageOptions, StreamPassage, WholePassage } from './passage.js';
import { TranslatedPassage, TranslatedWhole } from './translated-passage.js';
import type { StreamWriter, WholeWriter } from './translated-passage.js';

interface WirePassages {
  readonly stream: new (options: PassageOptions, answer: Answer, output: GrowingBuffer) => StreamPassage;
  readonly whole: new (options: PassageOptions, answer: Answer) => WholePassage;
  readonly streamWriter: new (options: PassageOptions, output: GrowingBuffer) => StreamWriter;
  readonly wholeWriter: new (options: PassageOptions) => WholeWriter;
}

const PASSAGES: Readonly<Record<ModelWire, WirePassages>> = {
  chat: {
    stream: ChatPassage,
    whole: WholeChatPassage,
    streamWriter: ChatWriter,
    wholeWriter: WholeChatWriter,
  },
  messages: {
    stream: MessagesPassage,
    whole: WholeMessagesPassage,
    streamWriter: MessagesWriter,
    wholeWriter: WholeMessagesWriter,
  },
};

/** `output` receives the events of the client. */
export function streamPassage(options: PassageOptions, output: GrowingBuffer): StreamPassage {
  const { stream: Passage, streamWriter: Writer } = PASSAGES[options.client];
  return isOneWire(options)
    ? new Passage(options, new Answer(options.choiceCount), output)
    : new TranslatedPassage(options, new Writer(options, output));
}

export function wholePassage(options: PassageOptions): WholePassage {
  const { whole: Passage, wholeWriter: Writer } = PASSAGES[options.client];
  return isOneWire(options)
    ? new Passage(options, new Answer(options.choiceCount))
    : new TranslatedWhole(options, new Writer(options));
}

function isOneWire({ client, wire }: PassageOptions): boolean {
  return client === wire.protocol;
}
