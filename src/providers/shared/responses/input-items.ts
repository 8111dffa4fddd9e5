// The kernel's messages as instructions and items of the Responses wire. A turn of the assistant is its reasoning, its message and its
// calls, in this order.
import type { ChatMessage, JsonObject } from '../../../domain/chat/chat-request.js';
import { idFor, partsOf } from '../kernel-parts.js';
import { REASONING_DETAILS } from '../turns/earlier-thoughts.js';
import { inputPart } from './input-parts.js';
import { reasoningItems } from './reasoning-items.js';

export interface ItemsPrompt {
  /** The first system message; null: none. */
  readonly instructions: string | null;
  readonly input: readonly JsonObject[];
}

/** `edits` receives what is lost. */
export function promptInItems(messages: readonly ChatMessage[], edits: Set<string>): ItemsPrompt {
  const instructions = instructionsIn(messages[0]);
  const input = messages.flatMap((message, index) =>
    index === 0 && instructions !== null ? [] : itemsOf(message, `messages[${index}]`, edits),
  );
  return { instructions, input };
}

function instructionsIn(first: ChatMessage | undefined): string | null {
  if (first?.role !== 'system' && first?.role !== 'developer') return null;
  const texts = partsOf(first.content).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === partsOf(first.content).length ? texts.join('\n') : null;
}

function itemsOf(message: ChatMessage, at: string, edits: Set<string>): JsonObject[] {
  const { role, content, toolCallId } = message;
  switch (role) {
    case 'assistant':
      return assistantItems(message, edits);
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: idFor(toolCallId ?? ''),
          output: contentOf(content, at) ?? '',
        },
      ];
    default:
      return [{ type: 'message', role, content: contentOf(content, at) ?? '' }];
  }
}

function assistantItems({ content, toolCalls, body }: ChatMessage, edits: Set<string>): JsonObject[] {
  const { items, lost } = reasoningItems(body['reasoning_details']);
  if (lost > 0) edits.add(REASONING_DETAILS);
  const { refusal } = body;
  const parts: JsonObject[] = partsOf(content).flatMap((part) =>
    part.type === 'text' && part.text !== '' ? [{ type: 'output_text', text: part.text }] : [],
  );
  if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', refusal });
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({
    type: 'function_call',
    call_id: idFor(id),
    name,
    arguments: text.trim() === '' ? '{}' : text,
  }));
  return [
    ...items,
    ...(parts.length === 0 ? [] : [{ type: 'message', role: 'assistant', content: parts }]),
    ...calls,
  ];
}

function contentOf(content: ChatMessage['content'], at: string): string | readonly JsonObject[] | null {
  if (content === null || typeof content === 'string') return content;
  return content.map((part, index) => inputPart(part, `${at}.content[${index}]`));
}
