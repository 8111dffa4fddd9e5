// The delivery state of a destination: its position in the log, dropped generations and their reasons.

/** A position in the log of a workspace, in commit order. */
export interface LogPosition {
  readonly transaction: bigint;
  readonly ordinal: number;
}

export function isBehind(position: LogPosition, other: LogPosition): boolean {
  return position.transaction === other.transaction
    ? position.ordinal > other.ordinal
    : position.transaction > other.transaction;
}

/** A parsed PostgreSQL snapshot, `xmin:xmax:open,open`: the transactions that had committed by then. */
export interface LogSnapshot {
  readonly oldestOpen: bigint;
  readonly next: bigint;
  readonly open: ReadonlySet<bigint>;
}

export function parseSnapshot(text: string): LogSnapshot {
  const [oldestOpen = '', next = '', open = ''] = text.split(':');
  const ids = open === '' ? [] : open.split(',').map(BigInt);
  return { oldestOpen: BigInt(oldestOpen), next: BigInt(next), open: new Set(ids) };
}

/** The inverse of parseSnapshot(), in PostgreSQL's format. */
export function formatSnapshot({ oldestOpen, next, open }: LogSnapshot): string {
  return `${oldestOpen}:${next}:${[...open].join(',')}`;
}

export function hadCommitted({ oldestOpen, next, open }: LogSnapshot, transaction: bigint): boolean {
  return transaction < oldestOpen || (transaction < next && !open.has(transaction));
}

/** Why a generation did not reach a destination that selected it. */
export const DROP_REASONS = [
  // It waited longer than MAX_DELIVERY_AGE, or longer than the platform allows.
  'expired',
  // The platform will never accept it: a dead letter.
  'refused',
  // Larger than the platform accepts, even without its content: a dead letter.
  'too_large',
  // The platform accepted the request and reported that it dropped these traces.
  'rejected',
  // The filter needs its input, which is no longer stored.
  'content_gone',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type DropCounts = Readonly<Partial<Record<DropReason, number>>>;

/** Milliseconds after which a generation is no longer delivered (docs/contract.md#deliveries). */
export const MAX_DELIVERY_AGE = 24 * 3_600_000;

export interface DeliveryFailure {
  /** `blocked`: the platform accepts nothing until an operator changes something. */
  readonly class: 'retry' | 'blocked';
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** For an operator: short, without secrets. */
  readonly message: string;
}

/** The part of a failure's message that has no words of a platform: `HTTP 400`, or nothing. */
export function statusIn(message: string): string {
  return /\bHTTP [1-5]\d\d\b/.exec(message)?.[0] ?? '';
}

/** Per destination: a small replay request may send a hundred megabytes to a third party. */
export const MAX_REPLAYS_PER_HOUR = 6;
export const MAX_TESTS_PER_MINUTE = 10;
/** Previews of the rules of destinations, of an account in each process. */
export const MAX_PREVIEWS_PER_MINUTE = 120;

/** The result of a test of a receiver. */
export interface ConnectionTest {
  /** The problem, for an operator, without secrets; null when there is none. */
  readonly problem: string | null;
  readonly durationMs: number;
}

export interface DeadLetter {
  readonly generationId: string;
  readonly generationCreatedAt: Date;
  readonly reason: 'refused' | 'too_large';
  readonly message: string;
}
