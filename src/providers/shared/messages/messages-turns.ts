// The kernel's messages as system blocks and turns of the Messages wire. Arguments of calls stay their own text.
import { createHash } from 'node:crypto';
import type { ChatMessage, ChatTool, JsonObject } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';
import { markedSystemText, objectSchema, objectText, partsOf } from '../kernel-parts.js';
import { blockOf } from './content-blocks.js';
import { REASONING_DETAILS, thinkingBlocks } from './reasoning-details.js';

const MAX_MARKS = 4;
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,64}$/;

interface Turn {
  readonly role: 'user' | 'assistant';
  /** JSON text. */
  readonly results: string[];
  readonly blocks: string[];
}

export interface MessagesPrompt {
  /** JSON text; null: none. */
  readonly system: string | null;
  readonly messages: string;
  readonly tools: string | null;
}

/** `edits` receives what is lost. */
export function promptInMessages(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
  edits: Set<string>,
): MessagesPrompt {
  const marks = new CacheMarks(messages, tools, edits);
  const written = tools.map((tool) => toolText(tool, marks));
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const isSystem = message.role === 'system' || message.role === 'developer';
    if (isSystem && turns.length === 0) system.push(...textsOf(message, `messages[${index}]`, marks));
    else addTurn(turns, message, `messages[${index}]`, marks, edits);
  }
  return {
    system: system.length === 0 ? null : `[${system.join(',')}]`,
    messages: `[${turns.flatMap(turnText).join(',')}]`,
    tools: written.length === 0 ? null : `[${written.join(',')}]`,
  };
}

function addTurn(
  turns: Turn[],
  message: ChatMessage,
  at: string,
  marks: CacheMarks,
  edits: Set<string>,
): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  // Results of one turn of calls, and the user's words after them, are one turn.
  let turn = turns.at(-1);
  if (turn?.role !== role) turns.push((turn = { role, results: [], blocks: [] }));
  if (message.role === 'tool') turn.results.push(resultText(message, at, marks));
  else if (message.role === 'assistant') turn.blocks.push(...assistantTexts(message, at, marks, edits));
  else if (message.role === 'user') turn.blocks.push(...textsOf(message, at, marks));
  else turn.blocks.push(JSON.stringify({ type: 'text', text: markedSystemText(message) }));
}

function turnText({ role, results, blocks }: Turn): string[] {
  const content = [...results, ...blocks];
  return content.length === 0 ? [] : [`{"role":"${role}","content":[${content.join(',')}]}`];
}

function textsOf(message: ChatMessage, at: string, marks: CacheMarks): string[] {
  const { content, body } = message;
  const sent = isArray(body['content']) ? body['content'] : [];
  const blocks = partsOf(content).map((part, index) => {
    const block = blockOf(part, `${at}.content[${index}]`);
    return block && Object.assign(block, marks.of(sent[index]));
  });
  const last = blocks.findLastIndex((block) => block !== null);
  return blocks.flatMap((block, index) =>
    block === null ? [] : [JSON.stringify(index === last ? { ...block, ...marks.of(body) } : block)],
  );
}

function assistantTexts(message: ChatMessage, at: string, marks: CacheMarks, edits: Set<string>): string[] {
  const { body, toolCalls } = message;
  const { blocks, lost } = thinkingBlocks(body['reasoning_details']);
  if (lost > 0) edits.add(REASONING_DETAILS);
  const calls = toolCalls.map(({ id, name, arguments: text }, index) => {
    const path = `${at}.tool_calls[${index}].function.arguments`;
    const start = JSON.stringify({ type: 'tool_use', id: idFor(id), name }).slice(0, -1);
    return `${start},"input":${objectText(text, path)}}`;
  });
  const { refusal } = body;
  const refused =
    typeof refusal === 'string' && refusal !== '' ? [JSON.stringify({ type: 'text', text: refusal })] : [];
  return [
    ...blocks.map((block) => JSON.stringify(block)),
    ...textsOf(message, at, marks),
    ...refused,
    ...calls,
  ];
}

function resultText(message: ChatMessage, at: string, marks: CacheMarks): string {
  const content = textsOf({ ...message, body: { content: message.body['content'] ?? null } }, at, marks);
  const { toolCallId, body } = message;
  const start = JSON.stringify({
    type: 'tool_result',
    tool_use_id: idFor(toolCallId ?? ''),
    ...(body['is_error'] === true && { is_error: true }),
    ...marks.of(body),
  });
  return `${start.slice(0, -1)},"content":[${content.join(',')}]}`;
}

function toolText({ name, body }: ChatTool, marks: CacheMarks): string {
  const described = isObject(body['function']) ? body['function'] : {};
  const { description, parameters, strict } = described;
  return JSON.stringify({
    name,
    ...(typeof description === 'string' && { description }),
    input_schema: objectSchema(parameters),
    ...(strict === true && { strict }),
    ...marks.of(body),
  });
}

/** A pure function, so that a call and its result keep their common id. */
export function idFor(id: string): string {
  if (PLAIN_ID.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 24)}`;
}

/** The wire takes four marks: further ones are dropped from the front. */
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

  of(item: unknown): JsonObject {
    const mark = markIn(item);
    if (mark === null) return {};
    if (this.surplus-- <= 0) return { cache_control: mark };
    this.edits.add('cache_control');
    return {};
  }
}

function markIn(item: unknown): JsonObject | null {
  const mark = isObject(item) ? item['cache_control'] : null;
  return isObject(mark) ? (mark as JsonObject) : null;
}
