// What is kept of the deliveries to one destination: how far it has come, what was given up and why.

/** A place in the log of a workspace, in the order of commit. */
export interface LogPosition {
  readonly transaction: bigint;
  readonly ordinal: number;
}

export function isBehind(position: LogPosition, other: LogPosition): boolean {
  return position.transaction === other.transaction
    ? position.ordinal > other.ordinal
    : position.transaction > other.transaction;
}

/** What PostgreSQL's text of a snapshot says, `xmin:xmax:open,open`: which transactions had been committed by then. */
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

/** The text that parseSnapshot() reads, as PostgreSQL writes it. */
export function formatSnapshot({ oldestOpen, next, open }: LogSnapshot): string {
  return `${oldestOpen}:${next}:${[...open].join(',')}`;
}

export function hadCommitted({ oldestOpen, next, open }: LogSnapshot, transaction: bigint): boolean {
  return transaction < oldestOpen || (transaction < next && !open.has(transaction));
}

/** Why a generation did not reach a destination that should have had it. */
export const DROP_REASONS = [
  // It waited for longer than MAX_DELIVERY_AGE, or longer than the platform takes it.
  'expired',
  // The platform says that it will never take it: a dead letter.
  'refused',
  // Larger than the platform takes, even without its content: a dead letter.
  'too_large',
  // The platform took the request and said that it dropped this many of it.
  'rejected',
  // Rules ask for its input, which is not stored any more.
  'content_gone',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type DropCounts = Readonly<Partial<Record<DropReason, number>>>;

/** Milliseconds after which a generation is not delivered any more (delivery.md 8, rule 5). */
export const MAX_DELIVERY_AGE = 24 * 3_600_000;

export interface DeliveryFailure {
  /** `blocked`: nothing will be taken until somebody changes something. */
  readonly class: 'retry' | 'blocked';
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** For an operator: short, without secrets. */
  readonly message: string;
}

/** The part of a failure's message that holds no word of a platform: `HTTP 400`, or nothing. */
export function statusIn(message: string): string {
  return /\bHTTP [1-5]\d\d\b/.exec(message)?.[0] ?? '';
}

/** Of one destination: a replay of a small request may send a hundred megabytes to a third party. */
export const MAX_REPLAYS_PER_HOUR = 6;
export const MAX_TESTS_PER_MINUTE = 10;

export interface DeadLetter {
  readonly generationId: string;
  readonly generationCreatedAt: Date;
  readonly reason: 'refused' | 'too_large';
  readonly message: string;
}
