// The list of generations: its filters, and the position where a page ends.
import { ERROR_DEFINITIONS } from '../errors.js';
import type { Generation, Operation } from './generation.js';

export const STATUS_CLASSES = ['2xx', '4xx', '5xx', 'error'] as const;

/** Undefined members do not filter. */
export interface GenerationFilter {
  readonly accountId: string;
  readonly workspaceId: string;
  /** One of these keys. */
  readonly apiKeyIds?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly operation?: Operation | undefined;
  readonly statuses?: readonly number[] | undefined;
  readonly errorType?: string | undefined;
  readonly requestId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** A page continues with generations before this position. */
export type ListPosition = Pick<Generation, 'createdAt' | 'id'>;

export interface GenerationPage {
  readonly generations: readonly Generation[];
  /** Null: there are no more. */
  readonly next: ListPosition | null;
  /** Everything since this moment was searched, and the page is not full; null: the page is full, or the last. */
  readonly searchedUntil: Date | null;
}

/** One page of the lists of several workspaces, each of which begins at the same position. */
export function mergePages(pages: readonly GenerationPage[], limit: number): GenerationPage {
  // Before the newest end of a list, its further generations are not known.
  const [horizon = null] = pages.flatMap(({ next }) => next ?? []).toSorted(newestFirst);
  const known = pages
    .flatMap(({ generations }) => generations)
    .filter((generation) => horizon === null || newestFirst(generation, horizon) <= 0)
    .toSorted(newestFirst);
  const generations = known.slice(0, limit);
  const isFull = generations.length === limit;
  if (isFull && (known.length > limit || horizon !== null))
    return { generations, next: generations.at(-1) ?? null, searchedUntil: null };
  return { generations, next: horizon, searchedUntil: horizon?.createdAt ?? null };
}

function newestFirst(one: ListPosition, other: ListPosition): number {
  const later = other.createdAt.getTime() - one.createdAt.getTime();
  return later === 0 ? Number(other.id > one.id) - Number(other.id < one.id) : later;
}

const FAILURES = [...new Set(Object.values(ERROR_DEFINITIONS).map(({ status }): number => status))].toSorted(
  (one, other) => one - other,
);

/** Whether these are all statuses of failed calls. */
export const isEveryFailure = (statuses: readonly number[]): boolean =>
  statuses.every((status) => status >= 400) && FAILURES.every((status) => statuses.includes(status));

/** The statuses of a class, or the one status that the text names; null: it names none. */
export function readStatuses(text: string): readonly number[] | null {
  if (/^[1-5]\d\d$/.test(text)) return [Number(text)];
  switch (STATUS_CLASSES.find((known) => known === text)) {
    case '2xx':
      return [200];
    case '4xx':
      return FAILURES.filter((status) => status < 500);
    case '5xx':
      return FAILURES.filter((status) => status >= 500);
    case 'error':
      return FAILURES;
    case undefined:
      return null;
  }
}
