// The parts of an answer in Gemini's wire as blocks. A part belongs to the block before it where both are of one kind; a call is one
// whole part.
import { JsonShape } from '../../../json/json-shape.js';
import type { JsonNode } from '../../../json/json-node.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents, OpaqueReasoning } from './answer-events.js';
import { CallIds } from './chat-tool-calls.js';

export const PART = new JsonShape(['text', 'thought', 'thoughtSignature', 'functionCall'], {
  functionCall: new JsonShape(['id', 'name', 'args']),
});

const TRUE = Buffer.from('true');
/** A string as it is, or space between two values. */
const STRING_OR_SPACE = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g;
const CHOICE = 0;

export class GeminiBlocks {
  /** Calls that have come. */
  calls = 0;
  /** A text, or a thought. */
  private open: AnswerBlock | null = null;
  private readonly ids = new CallIds(null);

  constructor(private readonly answer: AnswerEvents) {}

  readParts(parts: JsonNode): void {
    for (let at = 0; at < parts.count; at++) {
      const part = parts.child(at);
      if (part === null || part.isList) throw new BrokenAnswer('a part of the content is not an object');
      this.read(part);
    }
  }

  end(): void {
    this.close();
  }

  private read(part: JsonNode): void {
    const signature = part.text(part.find('thoughtSignature'));
    const call = part.child(part.find('functionCall'));
    const text = part.find('text');
    if (call !== null) this.readCall(call, signature);
    else if (!part.isString(text)) this.answer.skipped(part.to - part.from);
    else if (part.equals(part.find('thought'), TRUE)) this.grow('reasoning', part, text);
    else {
      this.grow('text', part, text);
      if (signature !== '') this.sign(signature);
    }
  }

  private grow(kind: 'text' | 'reasoning', part: JsonNode, at: number): void {
    if (!part.hasText(at)) return;
    if (this.open?.kind !== kind) {
      this.close();
      this.open = this.answer.open(CHOICE, kind);
    }
    if (this.open !== null) this.answer.delta(this.open, part.bytes, part.fromOf(at) + 1, part.toOf(at) - 1);
  }

  /** Of the text: it may come with its last, empty part. */
  private sign(signature: string): void {
    this.open ??= this.answer.open(CHOICE, 'reasoning');
    this.close({ kind: 'signature', text: signature });
  }

  /** The signature of a call comes before it, with the thought that led to it. */
  private readCall(call: JsonNode, signature: string): void {
    const name = call.text(call.find('name'));
    if (name === '') throw new BrokenAnswer('a tool call has no name');
    const id = this.ids.uniqueId(call.text(call.find('id')));
    this.calls++;
    if (signature === '') this.close();
    else {
      if (this.open?.kind !== 'reasoning') {
        this.close();
        this.open = this.answer.open(CHOICE, 'reasoning');
      }
      this.close({ kind: 'encrypted', text: signature, id });
    }
    const block = this.answer.open(CHOICE, 'call', { id, name });
    const written = argumentsOf(call);
    this.answer.delta(block, written, 1, written.length - 1);
    this.answer.close(block);
  }

  private close(opaque?: OpaqueReasoning): void {
    if (this.open !== null) this.answer.close(this.open, opaque);
    this.open = null;
  }
}

/** The object with its own digits, as a JSON string. */
function argumentsOf(call: JsonNode): Buffer {
  const at = call.find('args');
  const text = call.isNothing(at) ? '{}' : call.converted(at);
  const compact = text.replace(STRING_OR_SPACE, (found) => (found.startsWith('"') ? found : ''));
  return Buffer.from(JSON.stringify(compact));
}
