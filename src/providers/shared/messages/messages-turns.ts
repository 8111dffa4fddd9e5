// The kernel's messages as system blocks and turns of the Messages wire.
import type { ChatMessage, ChatTool } from '../../../domain/chat/chat-request.js';
import { promptInTurns } from '../turns/prompt-turns.js';
import type { TurnForm } from '../turns/prompt-turns.js';
import { blockOf } from './content-blocks.js';
import { thinkingBlocks } from './reasoning-details.js';

export interface MessagesPrompt {
  /** JSON text; null: none. */
  readonly system: string | null;
  readonly messages: string;
  readonly tools: string | null;
}

const FORM: TurnForm = {
  block: blockOf,
  thoughts: thinkingBlocks,
  call: (id, name, input) =>
    `${JSON.stringify({ type: 'tool_use', id, name }).slice(0, -1)},"input":${input}}`,
  result: ({ id, isError, content }) => {
    const start = JSON.stringify({
      type: 'tool_result',
      tool_use_id: id,
      ...(isError && { is_error: true }),
    });
    return `${start.slice(0, -1)},"content":[${content.join(',')}]}`;
  },
  tool: ({ name, description, schema, isStrict }) =>
    JSON.stringify({
      name,
      ...(description !== null && { description }),
      input_schema: schema,
      ...(isStrict && { strict: true }),
    }),
  marked: (element, mark) => [`${element.slice(0, -1)},"cache_control":${JSON.stringify(mark)}}`],
};

/** `edits` receives what is lost. */
export function promptInMessages(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
  edits: Set<string>,
): MessagesPrompt {
  const prompt = promptInTurns(messages, tools, FORM, edits);
  const turns = prompt.turns.flatMap(({ role, content }) =>
    content.length === 0 ? [] : [`{"role":"${role}","content":[${content.join(',')}]}`],
  );
  return {
    system: prompt.system.length === 0 ? null : `[${prompt.system.join(',')}]`,
    messages: `[${turns.join(',')}]`,
    tools: prompt.tools.length === 0 ? null : `[${prompt.tools.join(',')}]`,
  };
}
