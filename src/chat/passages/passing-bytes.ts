// Bytes of a provider on their way to a client of the same wire.
import type { JsonNode } from '../../json/json-node.js';
import type { GrowingBuffer } from '../kernel/growing-buffer.js';

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
