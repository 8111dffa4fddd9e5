// The pieces of one answer, and the parts of it that every wire needs.

export type Members = Readonly<Record<string, unknown>>;

export type Piece =
  | { readonly kind: 'thought'; readonly text: string }
  /** In the parts in which it comes. */
  | { readonly kind: 'text'; readonly deltas: readonly string[] }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object };
export type Call = Extract<Piece, { kind: 'call' }>;

/** Of 100 tokens of the prompt 30 are cached; 20 are made. */
export const TOKENS = { fresh: 70, cached: 30, made: 20 };
export const PROMPT = TOKENS.fresh + TOKENS.cached;

export interface WireAnswer {
  readonly whole: (pieces: readonly Piece[]) => Members;
  /** The parts of a stream, one event each. */
  readonly parts: (pieces: readonly Piece[]) => readonly (Buffer | string)[];
  /** An event that says that the provider fails. */
  readonly failure: Buffer | string;
  /** The body of a 429. */
  readonly refusal: Members;
  /** With which it proves a thought, and which it wants to have back; null: it has none. */
  readonly proof: string | null;
  readonly contentType: string;
}

export const EVENTS = 'text/event-stream';
export const argumentsOf = ({ input }: Call): string => JSON.stringify(input);
export const hasCall = (pieces: readonly Piece[]): boolean => pieces.some(({ kind }) => kind === 'call');
/** Arguments never come in one part. */
export const halves = (text: string): readonly [string, string] => [text.slice(0, 4), text.slice(4)];

export const textOf = (pieces: readonly Piece[]): string =>
  pieces.flatMap((piece) => (piece.kind === 'text' ? piece.deltas : [])).join('');
export const thoughtOf = (pieces: readonly Piece[]): string =>
  pieces.flatMap((piece) => (piece.kind === 'thought' ? [piece.text] : [])).join('');
