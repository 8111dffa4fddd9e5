// One of the APIs that a chat can be sent through: its body, its events, and its client in two languages.
import type { Turn } from './turns';
import type { ReadAnswer } from './chat-answer';

export interface ChatCall {
  readonly model: string;
  /** Empty: none. */
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  /** Undefined: the model's own. */
  readonly effort: Effort | undefined;
  /** In any of the three forms. */
  readonly tools: readonly unknown[] | undefined;
}

export const EFFORTS = ['none', 'low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];

/** The members of a body; undefined ones are not sent. */
export type WireBody = Readonly<Record<string, unknown>> & { readonly model: string };

export interface AnswerReader {
  readonly answer: ReadAnswer;
  /** True: it is the last event. */
  read(data: string): boolean;
}

/** The client of a vendor, as a sample of code. */
export interface WireClient {
  readonly imports: readonly string[];
  /** Constructs the client, before its options. */
  readonly construct: string;
  readonly create: string;
  /** Prints the texts of `stream`. */
  readonly loop: string;
}

export interface ChatWire {
  readonly name: WireName;
  readonly label: string;
  /** Below /api/v1, and below the playground. */
  readonly path: string;
  /** The member of the body with the most tokens of an answer. */
  readonly limitMember: string;
  /** The limit where the user sets none; null: the model's own. */
  readonly defaultLimit: number | null;
  bodyOf(call: ChatCall): WireBody;
  newReader(): AnswerReader;
  /** The part of the path that its clients do not add themselves. */
  readonly clientPath: '' | '/v1';
  readonly typescript: WireClient;
  readonly python: WireClient;
}

export const WIRE_NAMES = ['chat', 'messages', 'responses'] as const;
export type WireName = (typeof WIRE_NAMES)[number];
