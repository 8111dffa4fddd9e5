// The items of an answer in the Responses wire: each block of the kernel is one. The last item closes with the next one or with the
// answer, because its status is known then only.
import type { DeclaredTool } from '../../domain/chat/chat-request.js';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import type {
  AnswerBlock,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import type { BlockListener } from '../kernel/answer.js';
import { GrowingBuffer } from '../kernel/growing-buffer.js';
import { sealedReasoning } from '../kernel/reasoning-envelope.js';
import { CustomInput } from './custom-input.js';
import type { PassageOptions } from './passage.js';

/** How an item is written, as data. */
export interface ItemForm {
  /** Of its id. */
  readonly prefix: string;
  /** The events of its text: `<event>.delta`, `<event>.done`. */
  readonly event: string;
  /** The member with the text. */
  readonly member: string;
  /** JSON of further members of a delta. */
  readonly deltaMore: string;
  /** The part of the item with the text; null: the item itself has it. */
  readonly part: {
    readonly type: string;
    readonly event: string;
    readonly index: string;
    /** JSON of further members. */
    readonly more: string;
  } | null;
}

const CONTENT = { event: 'response.content_part', index: 'content_index', more: '' } as const;
const FORMS = {
  text: {
    prefix: 'msg',
    event: 'response.output_text',
    member: 'text',
    deltaMore: ',"logprobs":[]',
    part: { ...CONTENT, type: 'output_text', more: ',"annotations":[],"logprobs":[]' },
  },
  refusal: {
    prefix: 'msg',
    event: 'response.refusal',
    member: 'refusal',
    deltaMore: '',
    part: { ...CONTENT, type: 'refusal' },
  },
  summary: {
    prefix: 'rs',
    event: 'response.reasoning_summary_text',
    member: 'text',
    deltaMore: '',
    part: {
      event: 'response.reasoning_summary_part',
      index: 'summary_index',
      type: 'summary_text',
      more: '',
    },
  },
  thought: {
    prefix: 'rs',
    event: 'response.reasoning_text',
    member: 'text',
    deltaMore: '',
    part: { ...CONTENT, type: 'reasoning_text' },
  },
  function: {
    prefix: 'fc',
    event: 'response.function_call_arguments',
    member: 'arguments',
    deltaMore: '',
    part: null,
  },
  custom: {
    prefix: 'ctc',
    event: 'response.custom_tool_call_input',
    member: 'input',
    deltaMore: '',
    part: null,
  },
} as const satisfies Record<string, ItemForm>;
type Kind = keyof typeof FORMS;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

const EMPTY_ARGUMENTS = Buffer.from('{}');

/** An item that grows. */
export class OutputItem {
  readonly form: ItemForm;
  readonly id: string;
  /** The inside of a JSON string. */
  readonly text = new GrowingBuffer();
  /** JSON: the content that the producer of a reasoning reads. */
  encrypted: string | null = null;

  constructor(
    readonly kind: Kind,
    readonly index: number,
    answerId: string,
    /** JSON members of a call. */
    private readonly called: string,
  ) {
    this.form = FORMS[kind];
    this.id = `${this.form.prefix}_${answerId}_${index}`;
  }

  /** `status` in_progress: without its text. */
  json(status: ItemStatus): Buffer {
    const isBegun = status === 'in_progress';
    const id = JSON.stringify(this.id);
    const parts = isBegun || this.text.length === 0 ? [] : this.part();
    switch (this.kind) {
      case 'text':
      case 'refusal':
        return wrapped(
          `{"id":${id},"type":"message","role":"assistant","status":"${status}","content":[`,
          parts,
          ']}',
        );
      case 'summary':
        return wrapped(`{"id":${id},"type":"reasoning","summary":[`, parts, `]${this.sealed}}`);
      case 'thought':
        return wrapped(`{"id":${id},"type":"reasoning","summary":[],"content":[`, parts, `]${this.sealed}}`);
      case 'function':
      case 'custom': {
        const type = this.kind === 'function' ? 'function_call' : 'custom_tool_call';
        const start = `{"id":${id},"type":"${type}","status":"${status}",${this.called},"${this.form.member}":"`;
        return wrapped(start, isBegun ? [] : [this.written()], '"}');
      }
    }
  }

  /** The part with the text. */
  part(text = this.written()): Buffer[] {
    const { part, member } = this.form;
    if (part === null) return [];
    return [Buffer.from(`{"type":"${part.type}","${member}":"`), text, Buffer.from(`"${part.more}}`)];
  }

  written(): Buffer {
    return this.text.bytes.subarray(0, this.text.length);
  }

  private get sealed(): string {
    return this.encrypted === null ? '' : `,"encrypted_content":${this.encrypted}`;
  }
}

export interface ItemListener {
  added(item: OutputItem): void;
  /** `bytes[from, to)`: as in AnswerEvents. */
  grew(item: OutputItem, bytes: Buffer, from: number, to: number): void;
  done(item: OutputItem, json: Buffer): void;
}

export class ResponseItems implements BlockListener {
  /** JSON of items that are closed. */
  readonly finished: Buffer[] = [];
  private closedBytes = 0;
  private item: OutputItem | null = null;
  private input: CustomInput | null = null;

  constructor(
    private readonly options: PassageOptions,
    private readonly listener: ItemListener | null,
  ) {}

  opened({ kind }: AnswerBlock, call?: ToolCallStart): void {
    this.close('completed');
    if (call) this.openCall(call);
    else if (kind === 'text' || kind === 'refusal') this.open(kind);
  }

  grew({ kind }: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    if (kind === 'reasoning') {
      if (this.options.excludesReasoning) return;
      this.item ??= this.open(this.reasoningKind);
    }
    if (this.input === null) this.append(bytes, from, to);
    else this.appendAll(this.input.push(bytes, from, to));
  }

  closed({ kind }: AnswerBlock, opaque?: OpaqueReasoning): void {
    if (kind === 'call') {
      if (this.input !== null) this.appendAll(this.input.end());
      else if (this.item?.text.length === 0) this.appendAll(EMPTY_ARGUMENTS);
      this.input = null;
    }
    const { responses, excludesReasoning, identity, wire } = this.options;
    const producer = producerBehind(wire.protocol);
    if (opaque === undefined || producer === null || excludesReasoning) return;
    if (responses?.wantsEncryptedReasoning !== true) return;
    if (kind !== 'reasoning') this.close('completed');
    this.item ??= this.open(this.reasoningKind);
    // In the producer's own wire its content passes, as in answers whose bytes pass.
    const isOwn = wire.protocol === 'responses';
    this.item.encrypted = JSON.stringify(
      isOwn ? opaque.text : sealedReasoning(opaque, producer, identity.model),
    );
  }

  /** The end of the last item. */
  close(status: ItemStatus): void {
    const { item } = this;
    if (item === null) return;
    this.item = null;
    const json = item.json(status);
    this.finished.push(json);
    this.closedBytes += json.length;
    this.listener?.done(item, json);
  }

  /** With the item that is open. */
  soFar(): Buffer[] {
    return this.item === null ? this.finished : [...this.finished, this.item.json('incomplete')];
  }

  get heldBytes(): number {
    return this.closedBytes + (this.item?.text.size ?? 0);
  }

  private get reasoningKind(): Kind {
    // Servers with Chat's wire show what their models think; others show a summary.
    return this.options.wire.protocol === 'chat' ? 'thought' : 'summary';
  }

  private openCall({ id, name }: ToolCallStart): void {
    const declared = this.options.responses?.tools.get(name);
    const kind = declared?.type ?? 'function';
    this.input = kind === 'custom' ? new CustomInput() : null;
    this.open(kind, calledMembers(id, declared ?? { name, namespace: null }));
  }

  private open(kind: Kind, called = ''): OutputItem {
    const item = new OutputItem(kind, this.finished.length, this.options.identity.id, called);
    this.item = item;
    this.listener?.added(item);
    return item;
  }

  private appendAll(bytes: Buffer): void {
    if (bytes.length > 0) this.append(bytes, 0, bytes.length);
  }

  private append(bytes: Buffer, from: number, to: number): void {
    const { item } = this;
    if (item === null) return;
    this.listener?.grew(item, bytes, from, to);
    item.text.append(bytes, from, to);
  }
}

function calledMembers(id: string, { name, namespace }: Pick<DeclaredTool, 'name' | 'namespace'>): string {
  const members = { call_id: id, name, ...(namespace !== null && { namespace }) };
  return JSON.stringify(members).slice(1, -1);
}

function wrapped(start: string, pieces: readonly Buffer[], end: string): Buffer {
  return Buffer.concat([Buffer.from(start), ...pieces, Buffer.from(end)]);
}
