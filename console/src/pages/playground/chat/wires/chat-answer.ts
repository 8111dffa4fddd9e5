// The answer of a model as the page shows it, in whatever form its events came.

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: JSON, unless it was cut. */
  readonly arguments: string;
}

/** `prompt` and `completion` are whole: the other classes are parts of them. */
export interface AnswerUsage {
  readonly prompt: number;
  readonly cached: number;
  /** Into the cache, for any time. */
  readonly written: number;
  readonly completion: number;
  readonly reasoning: number;
  /** USD; undefined: no price is known. */
  readonly cost: number | undefined;
  readonly isByok: boolean;
}

/** As the events of a stream say. */
export interface ReadAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** In the words of Chat; null: it has not ended. */
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly usage: AnswerUsage | null;
  /** The failure that ended the answer in its middle. */
  readonly failure: string | null;
  /** Its parts in the wire's own form, which the next call returns: they may have signatures. */
  readonly parts: readonly object[];
}

export interface ChatAnswer extends ReadAnswer {
  readonly generationId: string | null;
  /** Milliseconds from the request to the first content, as the browser sees it. */
  readonly firstContent: number | null;
  /** Milliseconds from the request to the end of the answer; null before it. */
  readonly latency: number | null;
}

export const NOTHING_READ: ReadAnswer = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finishReason: null,
  model: null,
  provider: null,
  usage: null,
  failure: null,
  parts: [],
};

export const EMPTY_ANSWER: ChatAnswer = {
  ...NOTHING_READ,
  generationId: null,
  firstContent: null,
  latency: null,
};

export const hasContent = ({ text, reasoning, toolCalls }: ReadAnswer): boolean =>
  text !== '' || reasoning !== '' || toolCalls.length > 0;
