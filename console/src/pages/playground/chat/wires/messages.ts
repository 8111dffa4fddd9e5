// Anthropic's Messages.
import { answerParts, openCalls } from './turns';
import type { AttachedImage, Turn, UserTurn } from './turns';
import { mapFunctions } from './tools';
import { NOTHING_READ } from './chat-answer';
import type { AnswerUsage, ReadAnswer } from './chat-answer';
import type { AnswerReader, ChatCall, ChatWire, Effort, WireBody } from './chat-wire';

// Its clients must send one.
const DEFAULT_LIMIT = 4096;

export const MESSAGES: ChatWire = {
  name: 'messages',
  label: 'Messages',
  path: 'messages',
  limitMember: 'max_tokens',
  defaultLimit: DEFAULT_LIMIT,
  bodyOf,
  newReader: () => new MessagesReader(),
  clientPath: '',
  typescript: {
    imports: ["import Anthropic from '@anthropic-ai/sdk';"],
    construct: 'new Anthropic',
    create: 'client.messages.create',
    loop: `for await (const event of stream) {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
    process.stdout.write(event.delta.text);
  }
}`,
  },
  python: {
    imports: ['from anthropic import Anthropic'],
    construct: 'Anthropic',
    create: 'client.messages.create',
    loop: `for event in stream:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="")`,
  },
};

function bodyOf({ model, system, turns, temperature, maxTokens, effort, tools }: ChatCall): WireBody {
  return {
    model,
    max_tokens: maxTokens ?? DEFAULT_LIMIT,
    system: system.trim() === '' ? undefined : system,
    messages: turns.flatMap(toMessages),
    temperature,
    ...thinkingOf(effort),
    tools: mapFunctions(tools, ({ described, parameters, beside }) => ({
      ...described,
      input_schema: parameters ?? { type: 'object' },
      ...beside,
    })),
    stream: true,
  };
}

function thinkingOf(effort: Effort | undefined): object {
  if (effort === undefined) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
}

function toMessages(turn: Turn): readonly object[] {
  if (turn.kind === 'user') return [{ role: 'user', content: contentOf(turn) }];
  if (turn.kind === 'tools') {
    const results = turn.results.map(({ callId, text }) => ({
      type: 'tool_result',
      tool_use_id: callId,
      content: text,
    }));
    return [{ role: 'user', content: results }];
  }
  const own = answerParts(turn, 'messages');
  if (own.length > 0) return [{ role: 'assistant', content: own }];
  const { text } = turn.answer;
  const calls = openCalls(turn).map(({ id, name, arguments: values }) => ({
    type: 'tool_use',
    id,
    name,
    input: inputOf(values),
  }));
  const content = [...(text === '' ? [] : [{ type: 'text', text }]), ...calls];
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

function contentOf({ text, images }: UserTurn): unknown {
  if (images.length === 0) return text;
  const parts = images.map(toImage);
  return text.trim() === '' ? parts : [...parts, { type: 'text', text }];
}

/** `data:image/png;base64,…` in its pieces. */
function toImage({ url }: AttachedImage): object {
  const comma = url.indexOf(',');
  const [type = ''] = url.slice('data:'.length, comma).split(';');
  return {
    type: 'image',
    source: { type: 'base64', media_type: type, data: url.slice(comma + 1) },
  };
}

/** Arguments that are no object stay what they are: the service names the member. */
function inputOf(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

/** The reasons of the wire in the words of Chat. */
const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
};

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
}

/** The members of an event that the console reads. */
interface MessagesEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: { readonly model?: string; readonly provider?: string; readonly usage?: Usage };
  readonly content_block?: Block;
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
    readonly stop_reason?: string | null;
  };
  readonly usage?: Usage;
  readonly error?: { readonly message?: string };
}

interface Usage {
  readonly input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
  readonly cost?: number;
  readonly is_byok?: boolean;
}

class MessagesReader implements AnswerReader {
  answer: ReadAnswer = NOTHING_READ;
  /** The texts of tools' inputs, by block. */
  private readonly inputs = new Map<number, string>();
  /** The later ones have the cost, and not always the prompt. */
  private usage: Usage = {};

  read(data: string): boolean {
    const event = JSON.parse(data) as MessagesEvent;
    const { index = 0, message, content_block: block, delta } = event;
    switch (event.type) {
      case 'message_start':
        this.addUsage(message?.usage);
        this.grow({ model: message?.model ?? null, provider: message?.provider ?? null });
        return false;
      case 'content_block_start':
        if (block) this.begin(index, block);
        return false;
      case 'content_block_delta':
        if (delta) this.add(index, delta);
        return false;
      case 'content_block_stop':
        this.end(index);
        return false;
      case 'message_delta':
        this.addUsage(event.usage);
        if (delta?.stop_reason) this.grow({ finishReason: REASONS[delta.stop_reason] ?? delta.stop_reason });
        return false;
      case 'error':
        this.grow({ failure: event.error?.message ?? 'The provider failed.' });
        return true;
      default:
        return event.type === 'message_stop';
    }
  }

  private begin(index: number, block: Block): void {
    const { text, reasoning, toolCalls } = this.answer;
    this.setBlock(index, block);
    this.grow({ text: text + (block.text ?? ''), reasoning: reasoning + (block.thinking ?? '') });
    if (block.type !== 'tool_use') return;
    this.inputs.set(index, '');
    this.grow({ toolCalls: [...toolCalls, { id: block.id ?? '', name: block.name ?? '', arguments: '' }] });
  }

  private add(index: number, delta: NonNullable<MessagesEvent['delta']>): void {
    const { text = '', thinking = '', signature, partial_json: json } = delta;
    const { answer } = this;
    const block = this.blockAt(index);
    if (block === undefined) return;
    this.setBlock(index, {
      ...block,
      ...(text !== '' && { text: (block.text ?? '') + text }),
      ...(thinking !== '' && { thinking: (block.thinking ?? '') + thinking }),
      ...(signature !== undefined && { signature: (block.signature ?? '') + signature }),
    });
    this.grow({ text: answer.text + text, reasoning: answer.reasoning + thinking });
    if (json === undefined) return;
    const input = (this.inputs.get(index) ?? '') + json;
    this.inputs.set(index, input);
    const grown = answer.toolCalls.map(({ id, name, arguments: former }) => ({
      id,
      name,
      arguments: id === block.id ? input : former,
    }));
    this.grow({ toolCalls: grown });
  }

  private end(index: number): void {
    const input = this.inputs.get(index);
    const block = this.blockAt(index);
    if (input !== undefined && block !== undefined)
      this.setBlock(index, { ...block, input: inputOf(input) } as Block);
  }

  private blockAt(index: number): Block | undefined {
    return this.answer.parts[index] as Block | undefined;
  }

  private setBlock(index: number, block: Block): void {
    const { parts } = this.answer;
    this.grow({ parts: [...parts.slice(0, index), block, ...parts.slice(index + 1)] });
  }

  private addUsage(usage: Usage | undefined): void {
    this.usage = { ...this.usage, ...usage };
    this.grow({ usage: usageOf(this.usage) });
  }

  private grow(members: Partial<ReadAnswer>): void {
    this.answer = { ...this.answer, ...members };
  }
}

/** The wire's input excludes the parts that concern the cache. */
function usageOf(usage: Usage): AnswerUsage {
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    prompt: (usage.input_tokens ?? 0) + cached + written,
    cached,
    written,
    completion: usage.output_tokens ?? 0,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    cost: usage.cost,
    isByok: usage.is_byok ?? false,
  };
}
