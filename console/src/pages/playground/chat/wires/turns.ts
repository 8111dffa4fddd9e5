// The conversation: what was said by whom, and how each answer ended.
import type { ChatAnswer } from './chat-answer';
import type { WireName } from './chat-wire';

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
  /** The API that it came through. */
  readonly wire: WireName;
  readonly answer: ChatAnswer;
  readonly outcome: 'finished' | 'stopped' | 'failed';
  /** The failure of a call that ended without the service's own last event. */
  readonly error: unknown;
}

export type Turn = UserTurn | ToolTurn | AnswerTurn;

/** With the place of their data instead of it, for a code sample. */
export function withoutImageData(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    turn.kind === 'user'
      ? { ...turn, images: turn.images.map((image) => ({ ...image, url: placeOf(image) })) }
      : turn,
  );
}

const placeOf = ({ url }: AttachedImage): string => `${url.slice(0, url.indexOf(',') + 1)}YOUR_IMAGE`;

/** The calls of tools that wait for results. An answer that was cut has none: their arguments may be incomplete. */
export function openCalls(turn: Turn | undefined): ChatAnswer['toolCalls'] {
  return turn?.kind === 'answer' && turn.outcome === 'finished' ? turn.answer.toolCalls : [];
}

/** The parts of a whole answer in the wire's own form; none of one that came through another. */
export function answerParts({ wire, outcome, answer }: AnswerTurn, wanted: WireName): readonly object[] {
  return wire === wanted && outcome === 'finished' ? answer.parts : [];
}
