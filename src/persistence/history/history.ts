// The history, as the repositories read it: src/history/ implements it. Every method that reads throws AppError.
import type { AnalyticsQuery } from '../../domain/generations/analytics.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { ListedReach } from '../../domain/generations/call-reach.js';
import type { GenerationFilter, ListPosition } from '../../domain/generations/generation-list.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { Run } from '../database/database.js';
import type { RollupCursor } from '../rollups/rollup.repository.js';

export interface HistoryState {
  /** Null: the first pass has not ended, and the history lacks rows. */
  readonly cursor: RollupCursor | null;
  /** The log has no older rows; null: none were dropped. */
  readonly droppedBefore: Date | null;
  /** Seconds; null: no process copies. */
  readonly lag: number | null;
}

export interface TimeSpan {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** Rows of the history, grouped as the query needs them. */
export interface HistoryRows {
  /** A JSON array of objects. */
  readonly json: string;
  /** The history has the rows before it. */
  readonly cursor: RollupCursor;
}

/** The further groups of the rows: counted latencies, or each latency. */
export type LatencyGroups = 'none' | 'bucket' | 'latency';

export interface WantedGeneration extends Pick<Generation, 'accountId' | 'id' | 'createdAt'> {
  /** Read only where the history is asked. */
  readonly readReach: () => Promise<ListedReach>;
}

export abstract class History {
  /** Whether contents are copied and read. */
  abstract readonly hasContents: boolean;

  /** Runs the work again while it resolves with null: the log has lost rows since the state was read (`isBegin`). */
  abstract withState<Result>(work: (state: HistoryState | null) => Promise<Result | null>): Promise<Result>;

  /** Whether the log still begins there. Rows that it has lost since may be in neither answer. */
  abstract isBegin(begin: Date | null, run?: Run): Promise<boolean>;

  /** The sums of the spans by the groups of the query. */
  abstract sums(
    query: AnalyticsQuery,
    spans: readonly TimeSpan[],
    state: HistoryState,
    latencies: LatencyGroups,
  ): Promise<HistoryRows>;

  /** At most `limit` generations before the position and since `from`, newest first. */
  abstract list(
    filter: GenerationFilter,
    before: ListPosition,
    state: HistoryState,
    limit: number,
  ): Promise<readonly Generation[]>;

  /** The generation, if the log no longer has it and the history does. */
  abstract find(wanted: WantedGeneration): Promise<Generation | null>;

  /** The content of a generation that the caller may read. Null: the history does not have it. */
  abstract findContent(generation: Generation): Promise<GenerationContent | null>;
}
