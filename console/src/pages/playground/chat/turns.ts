// The conversation: what was said by whom, and how each answer ended.
import type { ChatMessage } from '../../../api/chat';
import type { ChatAnswer } from '../../../api/chat-answer';

export interface UserTurn {
  readonly kind: 'user';
  readonly text: string;
  readonly images: readonly AttachedImage[];
}

export interface AttachedImage {
  readonly name: string;
  /** Its data, as `data:image/png;base64,…`. */
  readonly url: string;
}

export interface ToolTurn {
  readonly kind: 'tools';
  readonly results: readonly ToolResult[];
}

export interface ToolResult {
  readonly callId: string;
  readonly text: string;
}

export interface AnswerTurn {
  readonly kind: 'answer';
  readonly answer: ChatAnswer;
  readonly outcome: 'finished' | 'stopped' | 'failed';
  /** The failure of a call that ended without the service's own last event. */
  readonly error: unknown;
}

export type Turn = UserTurn | ToolTurn | AnswerTurn;

/** As the API takes them. An answer that was cut keeps its text alone, since arguments of its calls may be incomplete. */
export function messagesOf(system: string, turns: readonly Turn[]): readonly ChatMessage[] {
  const first: readonly ChatMessage[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return [...first, ...turns.flatMap(toMessages)];
}

function toMessages(turn: Turn): readonly ChatMessage[] {
  if (turn.kind === 'user') return [{ role: 'user', content: contentOf(turn) }];
  if (turn.kind === 'tools')
    return turn.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  const { text } = turn.answer;
  const calls = openCalls(turn);
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  const toolCalls = calls.map(({ id, name, arguments: values }) => ({
    id,
    type: 'function',
    function: { name, arguments: values },
  }));
  return [{ role: 'assistant', content: text || null, tool_calls: toolCalls }];
}

function contentOf({ text, images }: UserTurn): ChatMessage['content'] {
  if (images.length === 0) return text;
  const parts = images.map(({ url }) => ({ type: 'image_url', image_url: { url } }) as const);
  return text.trim() === '' ? parts : [{ type: 'text', text }, ...parts];
}

/** With the place of their data instead of it, for a code sample. */
export function withoutImageData(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    turn.kind === 'user'
      ? { ...turn, images: turn.images.map((image) => ({ ...image, url: placeOf(image) })) }
      : turn,
  );
}

const placeOf = ({ url }: AttachedImage): string => `${url.slice(0, url.indexOf(',') + 1)}YOUR_IMAGE`;

/** The calls of tools that wait for results. */
export function openCalls(turn: Turn | undefined): ChatAnswer['toolCalls'] {
  return turn?.kind === 'answer' && turn.outcome === 'finished' ? turn.answer.toolCalls : [];
}
