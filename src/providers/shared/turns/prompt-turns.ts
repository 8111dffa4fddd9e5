// The kernel's messages as system blocks and turns, for wires whose turns alternate and consist of blocks. Arguments of calls stay
// their own text.
import type {
  ChatMessage,
  ChatPart,
  ChatTool,
  JsonObject,
  JsonValue,
} from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';
import { REASONING_DETAILS } from './earlier-thoughts.js';
import {
  describedFunction,
  idFor,
  markedSystemText,
  objectSchema,
  objectText,
  partsOf,
} from '../kernel-parts.js';

const MAX_MARKS = 4;

export interface DescribedTool {
  readonly name: string;
  /** Null: none. */
  readonly description: string | null;
  /** Its root has a type. */
  readonly schema: JsonObject;
  readonly isStrict: boolean;
}

export interface ToolResult {
  readonly id: string;
  readonly isError: boolean;
  /** JSON text of each block. */
  readonly content: readonly string[];
}

/** How a wire writes blocks and tools, as JSON text. */
export interface TurnForm {
  /** `at`: the path of the part. Null: the wire refuses it, and nothing is lost. Throws UnsupportedRequest. */
  block(part: ChatPart, at: string, place: 'turn' | 'result'): JsonObject | null;
  /** Of an assistant's `reasoning_details`. `lost`: thoughts that are not sent. */
  thoughts(details: JsonValue | undefined): {
    readonly blocks: readonly JsonObject[];
    readonly lost: number;
  };
  /** `input`: JSON text of an object. */
  call(id: string, name: string, input: string): string;
  result(result: ToolResult): string;
  tool(tool: DescribedTool): string;
  /** The elements that stand for one with the mark of a cache. */
  marked(element: string, mark: JsonObject): readonly string[];
}

export interface PromptTurn {
  readonly role: 'user' | 'assistant';
  /** JSON text. */
  readonly content: readonly string[];
}

export interface PromptInTurns {
  /** JSON text of each block. */
  readonly system: readonly string[];
  readonly turns: readonly PromptTurn[];
  readonly tools: readonly string[];
}

interface OpenTurn {
  readonly role: PromptTurn['role'];
  readonly results: string[];
  readonly blocks: string[];
}

/** `edits` receives what is lost. Turns may be empty. */
export function promptInTurns(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
  form: TurnForm,
  edits: Set<string>,
): PromptInTurns {
  const writer = new PromptWriter(form, new CacheMarks(messages, tools, edits), edits);
  const written = tools.flatMap((tool) => writer.tool(tool));
  for (const [index, message] of messages.entries()) writer.add(message, `messages[${index}]`);
  const turns = writer.turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }));
  return { system: writer.system, turns, tools: written };
}

class PromptWriter {
  readonly system: string[] = [];
  readonly turns: OpenTurn[] = [];

  constructor(
    private readonly form: TurnForm,
    private readonly marks: CacheMarks,
    private readonly edits: Set<string>,
  ) {}

  tool(tool: ChatTool): readonly string[] {
    const { parameters, ...described } = describedFunction(tool);
    const element = this.form.tool({ name: tool.name, ...described, schema: objectSchema(parameters) });
    return this.marked(element, tool.body);
  }

  add(message: ChatMessage, at: string): void {
    const isSystem = message.role === 'system' || message.role === 'developer';
    if (isSystem && this.turns.length === 0) {
      this.system.push(...this.blocksOf(message, at));
      return;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    // Results of one turn of calls, and the user's words after them, are one turn.
    let turn = this.turns.at(-1);
    if (turn?.role !== role) this.turns.push((turn = { role, results: [], blocks: [] }));
    if (message.role === 'tool') turn.results.push(...this.result(message, at));
    else if (message.role === 'assistant') turn.blocks.push(...this.assistant(message, at));
    else if (message.role === 'user') turn.blocks.push(...this.blocksOf(message, at));
    else turn.blocks.push(...this.texts(markedSystemText(message), at));
  }

  private blocksOf(message: ChatMessage, at: string, place: 'turn' | 'result' = 'turn'): string[] {
    const { content, body } = message;
    const sent = isArray(body['content']) ? body['content'] : [];
    const blocks = partsOf(content).flatMap((part, index) => {
      const block = this.form.block(part, `${at}.content[${index}]`, place);
      return block === null ? [] : [{ element: JSON.stringify(block), mark: this.marks.of(sent[index]) }];
    });
    return blocks.flatMap(({ element, mark }, index) => {
      const isLast = place === 'turn' && index === blocks.length - 1;
      const own = isLast ? (this.marks.of(body) ?? mark) : mark;
      return own === null ? [element] : this.form.marked(element, own);
    });
  }

  private assistant(message: ChatMessage, at: string): string[] {
    const { body, toolCalls } = message;
    const { blocks, lost } = this.form.thoughts(body['reasoning_details']);
    if (lost > 0) this.edits.add(REASONING_DETAILS);
    const calls = toolCalls.map(({ id, name, arguments: text }, index) =>
      this.form.call(idFor(id), name, objectText(text, `${at}.tool_calls[${index}].function.arguments`)),
    );
    const { refusal } = body;
    return [
      ...blocks.map((block) => JSON.stringify(block)),
      ...this.blocksOf(message, at),
      ...(typeof refusal === 'string' ? this.texts(refusal, at) : []),
      ...calls,
    ];
  }

  private result(message: ChatMessage, at: string): readonly string[] {
    const { toolCallId, body } = message;
    const element = this.form.result({
      id: idFor(toolCallId ?? ''),
      isError: body['is_error'] === true,
      content: this.blocksOf(message, at, 'result'),
    });
    return this.marked(element, body);
  }

  private texts(text: string, at: string): string[] {
    const block = this.form.block({ type: 'text', text }, at, 'turn');
    return block === null ? [] : [JSON.stringify(block)];
  }

  private marked(element: string, body: JsonObject): readonly string[] {
    const mark = this.marks.of(body);
    return mark === null ? [element] : this.form.marked(element, mark);
  }
}

/** These wires take four marks: further ones are dropped from the front. */
class CacheMarks {
  private surplus: number;

  constructor(
    messages: readonly ChatMessage[],
    tools: readonly ChatTool[],
    private readonly edits: Set<string>,
  ) {
    const marked = [
      ...tools.map(({ body }) => body),
      ...messages.flatMap(({ body }) => [body, ...(isArray(body['content']) ? body['content'] : [])]),
    ];
    this.surplus = marked.filter((item) => markIn(item) !== null).length - MAX_MARKS;
  }

  /** Null: no mark, or a surplus one. */
  of(item: unknown): JsonObject | null {
    const mark = markIn(item);
    if (mark === null) return null;
    if (this.surplus-- <= 0) return mark;
    this.edits.add('cache_control');
    return null;
  }
}

function markIn(item: unknown): JsonObject | null {
  const mark = isObject(item) ? item['cache_control'] : null;
  return isObject(mark) ? (mark as JsonObject) : null;
}
