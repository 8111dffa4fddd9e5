// The stored messages of a chat as its reader sees them: the parts of each, and tool calls with their results.
import type { GenerationContent } from '../../api/generations';
import type { ShownToolCall } from '../../components/message/tool-calls';

export interface ThreadMessage {
  readonly who: string;
  readonly isOwn: boolean;
  readonly reasoning: string | null;
  readonly parts: readonly ThreadPart[];
  readonly calls: readonly ShownToolCall[];
}

export interface ThreadPart {
  readonly kind: 'text' | 'image';
  /** Of an image: its address. */
  readonly text: string;
}

type InputMessage = Extract<GenerationContent['input'], { messages: unknown }>['messages'][number];
type StoredToolCall = NonNullable<GenerationContent['output']['tool_calls']>[number];

const WRITERS: Readonly<Record<string, string>> = {
  system: 'System',
  developer: 'Developer',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Result of a tool',
};

/** In order; the answer is the last. */
export function threadOf({ input, output }: GenerationContent): readonly ThreadMessage[] {
  const messages = 'prompt' in input ? [{ role: 'user', content: input.prompt }] : input.messages;
  const shown = new Set<InputMessage>();
  const thread = messages.flatMap((message, index) => {
    if (shown.has(message)) return [];
    const { role, content, name, tool_calls: calls = [] } = message;
    const who = WRITERS[role] ?? role;
    const answers = calls.length === 0 ? [] : answersAfter(messages, index);
    return {
      who: name === undefined ? who : `${who}, ${name}`,
      isOwn: role !== 'assistant',
      reasoning: null,
      parts: partsOf(content),
      calls: calls.map((call) => {
        const answer = answers.find((found) => found.tool_call_id === call.id && !shown.has(found));
        if (answer !== undefined) shown.add(answer);
        return toShownCall(call, answer && textOf(answer.content));
      }),
    };
  });
  const answer = answerOf(output);
  return answer === null ? thread : [...thread, answer];
}

/** The results that follow a message: ids of calls are unique between two of the assistant only. */
function answersAfter(messages: readonly InputMessage[], index: number): readonly InputMessage[] {
  const next = messages.findIndex(({ role }, position) => position > index && role === 'assistant');
  return messages.slice(index + 1, next === -1 ? undefined : next).filter(({ role }) => role === 'tool');
}

function answerOf({ completion, reasoning, tool_calls: calls = [] }: GenerationContent['output']) {
  if (completion === null && reasoning === null && calls.length === 0) return null;
  return {
    who: 'Answer',
    isOwn: false,
    reasoning,
    parts: completion === null ? [] : partsOf(completion),
    calls: calls.map((call) => toShownCall(call)),
  };
}

function toShownCall({ id, function: called }: StoredToolCall, result?: string): ShownToolCall {
  return { id, name: called.name, arguments: called.arguments, result };
}

function partsOf(content: InputMessage['content']): readonly ThreadPart[] {
  if (content === null || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map(toPart);
}

/** Tokens, and parts that are neither, are shown as they are stored. */
function toPart(part: unknown): ThreadPart {
  if (typeof part === 'object' && part !== null) {
    if ('text' in part) return { kind: 'text', text: String(part.text) };
    if ('image_url' in part) {
      const { url } = part.image_url as { readonly url?: unknown };
      if (typeof url === 'string') return { kind: 'image', text: url };
    }
  }
  return { kind: 'text', text: JSON.stringify(part) };
}

/** As one text, for embeddings and results of tools. */
export const textOf = (content: InputMessage['content']): string =>
  partsOf(content)
    .map(({ text }) => text)
    .join('\n');
