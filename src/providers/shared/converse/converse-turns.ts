// The kernel's messages and tools as the members of the Converse wire.
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { BEDROCK_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { UnsupportedRequest } from '../provider.js';
import { earlierThoughts } from '../turns/earlier-thoughts.js';
import { promptInTurns } from '../turns/prompt-turns.js';
import type { TurnForm } from '../turns/prompt-turns.js';
import { ConverseParts } from './converse-parts.js';

export interface ConversePrompt {
  /** JSON text; null: none. */
  readonly system: string | null;
  readonly messages: string;
  readonly toolConfig: string | null;
}

/** The wire refuses a turn without a block. */
const EMPTY_TURN = '{"text":"."}';
const ANY_SCHEMA = { type: 'object' };

/** `edits` receives what is lost. Throws UnsupportedRequest. */
export function promptInConverse(request: ChatRequest, edits: Set<string>): ConversePrompt {
  const { messages, tools, toolChoice } = request;
  const prompt = promptInTurns(messages, tools, formOf(new ConverseParts()), edits);
  const [first] = prompt.turns;
  if (first?.role !== 'user')
    throw new UnsupportedRequest('messages', 'must begin with a message of the user: the endpoint needs one');
  const turns = prompt.turns.map(
    ({ role, content }) =>
      `{"role":"${role}","content":[${content.length === 0 ? EMPTY_TURN : content.join(',')}]}`,
  );
  const called = calledTools(request);
  const mayCall = toolChoice === null || !('mode' in toolChoice) || toolChoice.mode !== 'none';
  const written = mayCall || called.length > 0 ? prompt.tools : [];
  // Calls in the history need definitions, also where the caller declares none any more.
  const definitions = written.length > 0 ? written : called.map(openDefinition);
  return {
    system: prompt.system.length === 0 ? null : `[${prompt.system.join(',')}]`,
    messages: `[${turns.join(',')}]`,
    toolConfig:
      definitions.length === 0
        ? null
        : `{"tools":[${definitions.join(',')}]${mayCall && written.length > 0 ? choiceText(toolChoice) : ''}}`,
  };
}

function formOf(parts: ConverseParts): TurnForm {
  return {
    block: (part, at, place) => parts.block(part, at, place),
    thoughts: (details) => {
      const { thoughts, lost } = earlierThoughts(details, BEDROCK_FORMAT);
      const written = thoughts.map((thought) => ({
        reasoningContent:
          'data' in thought
            ? { redactedContent: thought.data }
            : { reasoningText: { text: thought.text, signature: thought.signature } },
      }));
      return { blocks: written, lost };
    },
    call: (id, name, input) =>
      `{"toolUse":${JSON.stringify({ toolUseId: id, name }).slice(0, -1)},"input":${input}}}`,
    result: ({ id, isError, content }) => {
      const start = JSON.stringify({ toolUseId: id, ...(isError && { status: 'error' }) }).slice(0, -1);
      return `{"toolResult":${start},"content":[${content.join(',')}]}}`;
    },
    tool: ({ name, description, schema, isStrict }) =>
      JSON.stringify({
        toolSpec: {
          name,
          ...(description !== null && { description }),
          inputSchema: { json: schema },
          ...(isStrict && { strict: true }),
        },
      }),
    // An element of its own, behind the marked one.
    marked: (element, { ttl }) => [
      element,
      JSON.stringify({ cachePoint: { type: 'default', ...(ttl === '1h' && { ttl }) } }),
    ],
  };
}

function calledTools({ messages }: ChatRequest): string[] {
  return [...new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)))];
}

function openDefinition(name: string): string {
  return JSON.stringify({ toolSpec: { name, inputSchema: { json: ANY_SCHEMA } } });
}

function choiceText(choice: ChatRequest['toolChoice']): string {
  if (choice === null) return '';
  const named =
    'mode' in choice
      ? { [choice.mode === 'required' ? 'any' : 'auto']: {} }
      : { tool: { name: choice.functionName } };
  return `,"toolChoice":${JSON.stringify(named)}`;
}
