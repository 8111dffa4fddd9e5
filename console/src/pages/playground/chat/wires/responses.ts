// OpenAI's Responses, without state: each call has the whole conversation.
import { answerParts, openCalls } from './turns';
import type { Turn, UserTurn } from './turns';
import { mapFunctions } from './tools';
import { NOTHING_READ } from './chat-answer';
import type { AnswerUsage, ReadAnswer } from './chat-answer';
import type { AnswerReader, ChatCall, ChatWire, Effort, WireBody } from './chat-wire';

export const RESPONSES: ChatWire = {
  name: 'responses',
  label: 'Responses',
  path: 'responses',
  limitMember: 'max_output_tokens',
  defaultLimit: null,
  bodyOf,
  newReader: () => new ResponsesReader(),
  clientPath: '/v1',
  typescript: {
    imports: ["import OpenAI from 'openai';"],
    construct: 'new OpenAI',
    create: 'client.responses.create',
    loop: `for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
}`,
  },
  python: {
    imports: ['from openai import OpenAI'],
    construct: 'OpenAI',
    create: 'client.responses.create',
    loop: `for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="")`,
  },
};

function bodyOf({ model, system, turns, temperature, maxTokens, effort, tools }: ChatCall): WireBody {
  return {
    model,
    instructions: system.trim() === '' ? undefined : system,
    input: turns.flatMap(toItems),
    temperature,
    max_output_tokens: maxTokens,
    ...reasoningOf(effort),
    tools: mapFunctions(tools, ({ described, parameters, beside }) => ({
      type: 'function',
      ...described,
      parameters,
      ...beside,
    })),
    stream: true,
  };
}

/** Thoughts come back to the model with the next call. */
function reasoningOf(effort: Effort | undefined): object {
  if (effort === undefined) return {};
  if (effort === 'none') return { reasoning: { effort } };
  return { reasoning: { effort, summary: 'auto' }, include: ['reasoning.encrypted_content'] };
}

function toItems(turn: Turn): readonly object[] {
  if (turn.kind === 'user') return [{ type: 'message', role: 'user', content: contentOf(turn) }];
  if (turn.kind === 'tools')
    return turn.results.map(({ callId, text }) => ({
      type: 'function_call_output',
      call_id: callId,
      output: text,
    }));
  const own = answerParts(turn, 'responses').filter(isReadable);
  if (own.length > 0) return own;
  const { text } = turn.answer;
  const calls = openCalls(turn).map(({ id, name, arguments: values }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: values,
  }));
  return [...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }]), ...calls];
}

/** No provider reads a thought that is not encrypted. */
const isReadable = (item: Item): boolean => item.type !== 'reasoning' || Boolean(item.encrypted_content);

function contentOf({ text, images }: UserTurn): unknown {
  if (images.length === 0) return text;
  const parts = images.map(({ url }) => ({ type: 'input_image', image_url: url }));
  return text.trim() === '' ? parts : [{ type: 'input_text', text }, ...parts];
}

interface Item {
  readonly type?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly encrypted_content?: string | null;
}

interface Usage {
  readonly input_tokens: number;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  };
  readonly output_tokens: number;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number };
  readonly cost?: number;
  readonly is_byok?: boolean;
}

/** The members of an event that the console reads. */
interface ResponsesEvent {
  readonly type: string;
  readonly output_index?: number;
  readonly item?: Item;
  readonly delta?: string;
  readonly message?: string;
  readonly response?: {
    readonly model?: string;
    readonly provider?: string;
    readonly incomplete_details?: { readonly reason?: string } | null;
    readonly error?: { readonly message?: string } | null;
    readonly usage?: Usage | null;
  };
}

const REASONS: Readonly<Record<string, string>> = { max_output_tokens: 'length' };

class ResponsesReader implements AnswerReader {
  answer: ReadAnswer = NOTHING_READ;
  /** Of a call, by the index of its item. */
  private readonly calls = new Map<number, number>();

  read(data: string): boolean {
    const event = JSON.parse(data) as ResponsesEvent;
    const { answer } = this;
    const { type, output_index: index = 0, item, delta = '', response } = event;
    switch (type) {
      case 'response.created':
        this.grow({ model: response?.model ?? null, provider: response?.provider ?? null });
        return false;
      case 'response.output_item.added':
        if (item?.call_id !== undefined) this.beginCall(index, item);
        return false;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.grow({ text: answer.text + delta });
        return false;
      case 'response.reasoning_summary_part.added':
        if (answer.reasoning !== '') this.grow({ reasoning: `${answer.reasoning}\n\n` });
        return false;
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        this.grow({ reasoning: answer.reasoning + delta });
        return false;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.addArguments(index, delta);
        return false;
      case 'response.output_item.done':
        if (item) this.grow({ parts: [...answer.parts, item] });
        return false;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.end(type, response);
        return true;
      case 'error':
        this.grow({ failure: event.message ?? 'The provider failed.' });
        return true;
      default:
        return false;
    }
  }

  private beginCall(index: number, { call_id: id = '', name = '' }: Item): void {
    const { toolCalls } = this.answer;
    this.calls.set(index, toolCalls.length);
    this.grow({ toolCalls: [...toolCalls, { id, name, arguments: '' }] });
  }

  private addArguments(index: number, delta: string): void {
    const position = this.calls.get(index);
    this.grow({
      toolCalls: this.answer.toolCalls.map((call, at) =>
        at === position ? { ...call, arguments: call.arguments + delta } : call,
      ),
    });
  }

  private end(type: string, response: ResponsesEvent['response']): void {
    const { answer } = this;
    const reason = response?.incomplete_details?.reason;
    this.grow({
      model: response?.model ?? answer.model,
      provider: response?.provider ?? answer.provider,
      usage: response?.usage ? usageOf(response.usage) : null,
      finishReason:
        reason === undefined
          ? answer.toolCalls.length > 0
            ? 'tool_calls'
            : 'stop'
          : (REASONS[reason] ?? reason),
      failure: type === 'response.failed' ? (response?.error?.message ?? 'The provider failed.') : null,
    });
  }

  private grow(members: Partial<ReadAnswer>): void {
    this.answer = { ...this.answer, ...members };
  }
}

function usageOf(usage: Usage): AnswerUsage {
  return {
    prompt: usage.input_tokens,
    cached: usage.input_tokens_details?.cached_tokens ?? 0,
    written: usage.input_tokens_details?.cache_write_tokens ?? 0,
    completion: usage.output_tokens,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
    cost: usage.cost,
    isByok: usage.is_byok ?? false,
  };
}
