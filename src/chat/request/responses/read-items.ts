// Items of the Responses wire as the kernel's messages, in Chat's form. Reasoning, texts and calls between two items of the user or of
// a tool are one turn of the assistant; results follow the turn of their calls (docs/contract.md#responses).
import type { ChatMessage, ChatToolCall, JsonObject } from '../../../domain/chat/chat-request.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isObject } from '../../../domain/members.js';
import { bindToCall, kernelMessage, textIn, toolResult } from '../kernel-messages.js';
import type { ReadPart } from '../kernel-messages.js';
import { readItemParts, textPart } from './read-item-parts.js';
import { earlierReasoning } from './earlier-reasoning.js';
import { customArguments, kernelName } from './tool-names.js';

const ROLES = ['user', 'assistant', 'system', 'developer'] as const;
type Role = (typeof ROLES)[number];

interface AssistantTurn {
  readonly kind: 'assistant';
  readonly parts: ReadPart[];
  readonly details: JsonObject[];
  /** Details before the last call. */
  bound: number;
  readonly calls: { readonly call: ChatToolCall; readonly at: string }[];
  /** By the id of the call. */
  readonly results: Map<string, { readonly result: ChatMessage; readonly media: readonly ReadPart[] }>;
}

type Turn = AssistantTurn | { readonly kind: 'message'; readonly message: ChatMessage };

export function readInstructions(instructions: string | undefined): ChatMessage[] {
  return instructions === undefined || instructions === ''
    ? []
    : [kernelMessage('system', [textPart(instructions)], {})];
}

export interface ReadItems {
  readonly messages: readonly ChatMessage[];
  /** Custom tools were called. */
  readonly hasCustom: boolean;
}

export function readItems(input: unknown): ReadItems {
  if (typeof input === 'string')
    return { messages: [kernelMessage('user', [textPart(input)], {})], hasCustom: false };
  if (!isArray(input))
    return rejectMember('input', input === undefined ? 'is required' : 'must be a string or an array');
  if (input.length === 0) rejectMember('input', 'must have at least 1 element');
  const reader = new ItemsReader();
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`;
    if (!isObject(item)) return rejectMember(at, 'must be an object');
    reader.read(item as JsonObject, at);
  }
  return { messages: reader.messages(), hasCustom: reader.hasCustom };
}

class ItemsReader {
  hasCustom = false;
  private readonly turns: Turn[] = [];
  /** The turn of each call. */
  private readonly callers = new Map<string, AssistantTurn>();
  /** Null: the next item of the assistant begins a turn. */
  private open: AssistantTurn | null = null;

  read(item: JsonObject, at: string): void {
    const type = item['type'] ?? 'message';
    switch (type) {
      case 'message':
        this.readMessage(item, at);
        break;
      case 'reasoning':
        this.assistant().details.push(...earlierReasoning(item, this.assistant().details.length, at));
        break;
      case 'function_call':
        this.addCall(item, textIn(item, 'arguments', at), at);
        break;
      case 'custom_tool_call':
        this.hasCustom = true;
        this.addCall(item, customArguments(textIn(item, 'input', at)), at);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addResult(item, at);
        break;
      case 'item_reference':
        rejectMember(
          `${at}.type`,
          'references are not supported: nothing is stored here; send the item itself, and set store to false',
        );
        break;
      default:
        rejectMember(
          `${at}.type`,
          'must be message, reasoning, function_call, function_call_output, custom_tool_call or ' +
            'custom_tool_call_output: no endpoint takes other items',
        );
    }
  }

  /** Throws `invalid_request` for a call without a result, which every provider refuses. */
  messages(): ChatMessage[] {
    return this.turns.flatMap((turn) => (turn.kind === 'message' ? [turn.message] : messagesOf(turn)));
  }

  private readMessage(item: JsonObject, at: string): void {
    const role: Role | undefined = ROLES.find((known) => known === item['role']);
    if (role === undefined) return rejectMember(`${at}.role`, `must be one of ${ROLES.join(', ')}`);
    const parts = readItemParts(item['content'], role, `${at}.content`);
    const media = role === 'system' || role === 'developer' ? parts.findIndex(isMedia) : -1;
    if (media !== -1) rejectMember(`${at}.content[${media}].type`, 'must be input_text in this role');
    if (role === 'assistant') this.assistant().parts.push(...parts);
    else {
      this.open = null;
      this.turns.push({ kind: 'message', message: kernelMessage(role, parts, {}) });
    }
  }

  private assistant(): AssistantTurn {
    if (this.open !== null) return this.open;
    this.open = { kind: 'assistant', parts: [], details: [], bound: 0, calls: [], results: new Map() };
    this.turns.push(this.open);
    return this.open;
  }

  private addCall(item: JsonObject, text: string, at: string): void {
    const { namespace } = item;
    const id = textIn(item, 'call_id', at);
    if (this.callers.has(id)) rejectMember(`${at}.call_id`, 'names a second call of this id');
    const name = kernelName({
      namespace: typeof namespace === 'string' ? namespace : null,
      name: textIn(item, 'name', at),
    });
    const turn = this.assistant();
    bindToCall(turn.details, turn.bound, id);
    turn.bound = turn.details.length;
    turn.calls.push({ call: { id, name, arguments: text }, at });
    this.callers.set(id, turn);
  }

  private addResult(item: JsonObject, at: string): void {
    const id = textIn(item, 'call_id', at);
    const turn = this.callers.get(id);
    if (turn === undefined) return rejectMember(`${at}.call_id`, 'must be the id of a call before it');
    if (turn.results.has(id)) rejectMember(`${at}.call_id`, 'names a second result of this call');
    const parts = readItemParts(item['output'], 'tool', `${at}.output`);
    turn.results.set(id, toolResult(id, parts));
    this.open = null;
  }
}

function isMedia({ part }: ReadPart): boolean {
  return part.type !== 'text';
}

/** Results in the order of their calls, whatever the order in which they came. Their media follow in a turn of the user. */
function messagesOf({ parts, details, calls, results }: AssistantTurn): ChatMessage[] {
  const toolCalls = calls.map(({ call }) => call);
  const members: JsonObject = {
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  const answered = calls.map(
    ({ call, at }) => results.get(call.id) ?? rejectMember(`${at}.call_id`, 'this call has no result'),
  );
  const media = answered.flatMap((each) => each.media);
  // A turn of nothing but lost reasoning says nothing.
  const isSilent = parts.length === 0 && toolCalls.length === 0 && details.length === 0;
  const message = kernelMessage(
    'assistant',
    parts,
    parts.length === 0 ? { content: null, ...members } : members,
  );
  return [
    ...(isSilent ? [] : [{ ...message, toolCalls, ...(parts.length === 0 && { content: null }) }]),
    ...answered.map(({ result }) => result),
    ...(media.length === 0 ? [] : [kernelMessage('user', media, {})]),
  ];
}
