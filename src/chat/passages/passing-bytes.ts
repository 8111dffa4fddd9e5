// Bytes of a provider on their way to a client of the same wire.
import type { JsonNode } from '../../json/json-node.js';
import type { ShownUsage } from '../clients/client-wire.js';
import { costMembers } from '../clients/messages.js';
import type { ShownCost } from '../dto/chat-usage.dto.js';
import type { Answer } from '../kernel/answer.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';
import type { AnswerEnd, EventData, PassageOptions, WholePassage } from './passage.js';

const DATA = Buffer.from('\ndata: ');
const END = Buffer.from('\n\n');

/** `bytes[from, to)`: the data of the event, in one line. */
export function writeEvent(
  output: GrowingBuffer,
  type: string,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  // A provider's word could end the line.
  const start = Buffer.from(`event: ${/^[\w.-]{1,100}$/.test(type) ? type : 'message'}`);
  output.append(start, 0, start.length);
  output.append(DATA, 0, DATA.length);
  output.append(bytes, from, to);
  output.append(END, 0, END.length);
}

export function addMembers(node: JsonNode, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) node.set(name, Buffer.from(JSON.stringify(value)));
}

/** To the usage of `node`. `usageOf` takes the place of one that is no object. */
export function addCost(node: JsonNode, cost: ShownCost, usageOf: () => object): void {
  const reported = node.child(node.find('usage'));
  if (reported === null || reported.isList) addMembers(node, { usage: usageOf() });
  else addMembers(reported, costMembers(cost));
}

interface BodyReader {
  /** The document of the answer; null: it states an error. */
  readWhole(bytes: Buffer, from: number, to: number, large: EventData['large']): JsonNode | null;
}

/** A whole answer, whose usage gains its cost after the commit of the record. */
export class PassingBody implements WholePassage {
  private document: JsonNode | null = null;

  /** `usageOf`: for an answer without usage. */
  constructor(
    private readonly options: PassageOptions,
    readonly answer: Answer,
    private readonly reader: BodyReader,
    private readonly usageOf: (shown: ShownUsage) => object,
  ) {}

  read(bytes: Buffer, from: number, to: number, large: EventData['large']): boolean {
    this.document = this.reader.readWhole(bytes, from, to, large);
    return true;
  }

  body({ usage, cost, members }: AnswerEnd): readonly Buffer[] {
    const { document } = this;
    if (document === null) return [];
    addCost(document, cost, () => this.usageOf({ usage, cost }));
    addMembers(document, { provider: this.options.identity.provider, ...members });
    return document.pieces();
  }
}
