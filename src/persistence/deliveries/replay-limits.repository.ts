// Rate limits of replays and tests: a replay of a small request may send a hundred megabytes to a third party. They
// are stored in the cursor's row, so that they hold across replicas and restarts, by the clock of the database.
import { Injectable } from '@nestjs/common';
import { MAX_REPLAYS_PER_HOUR, MAX_TESTS_PER_MINUTE } from '../../domain/destinations/delivery.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import type { DestinationRef } from './delivery-cursors.repository.js';

export type LimitedResult<Result> =
  | { readonly is: 'admitted'; readonly result: Result }
  | { readonly is: 'running' }
  | {
      readonly is: 'too_often';
      /** Milliseconds until the oldest of the recent requests leaves the window, and one more is accepted. */
      readonly retryAfter: number;
    };

interface ReplayState {
  readonly transaction: string;
  readonly ordinal: number;
  readonly isBehindEnd: boolean;
  readonly recent: number;
  /** Null without recent replays. */
  readonly retryAfter: number | null;
}

const RECENT_REPLAYS = `SELECT started FROM unnest(replays_started_at) AS started WHERE started > now() - interval '1 hour'`;
// Clients obey a `Retry-After` below 60 s only.
const TEST_WINDOW = `interval '59 seconds'`;
const RECENT_TESTS = `SELECT started FROM unnest(tests_started_at) AS started WHERE started > now() - ${TEST_WINDOW}`;

/** Milliseconds until the oldest leaves the window. */
const untilRoom = (window: string): string =>
  `ceil(1000 * extract(epoch FROM min(started) + ${window} - now()))::integer`;

/** $1 workspace, $2 destination. The lock serialises requests. */
const LOCK = `
SELECT log_transaction AS transaction, log_ordinal AS ordinal,
  coalesce((log_transaction, log_ordinal) < (replay_end_transaction, replay_end_ordinal), false) AS "isBehindEnd",
  (SELECT count(*)::integer FROM (${RECENT_REPLAYS}) AS recent) AS recent,
  (SELECT ${untilRoom(`interval '1 hour'`)} FROM (${RECENT_REPLAYS}) AS recent) AS "retryAfter"
FROM delivery_cursors WHERE workspace_id = $1 AND destination_id = $2 FOR UPDATE`;

const HAS_REQUESTED = `
SELECT EXISTS (
  SELECT 1 FROM dead_letters WHERE workspace_id = $1 AND destination_id = $2 AND replay_requested_at IS NOT NULL
) AS "hasRequested"`;

/**
 * $1 workspace, $2 destination, $3 and $4 the position before the replay, $5 whether dead letters were requested. A
 * replay without deliveries does not count.
 */
const NOTE_REPLAY = `
UPDATE delivery_cursors SET replays_started_at = ARRAY(${RECENT_REPLAYS}) || now(),
  replay_end_transaction = CASE WHEN $5 THEN replay_end_transaction ELSE $3 END,
  replay_end_ordinal = CASE WHEN $5 THEN replay_end_ordinal ELSE $4 END
WHERE workspace_id = $1 AND destination_id = $2 AND ($5 OR (log_transaction, log_ordinal) < ($3, $4))`;

const NOTE_TEST = `
UPDATE delivery_cursors SET tests_started_at = ARRAY(${RECENT_TESTS}) || now()
WHERE workspace_id = $1 AND destination_id = $2 AND cardinality(ARRAY(${RECENT_TESTS})) < $3
RETURNING 1`;

const TEST_WAIT = `
SELECT coalesce(${untilRoom(TEST_WINDOW)}, 0) AS "retryAfter"
FROM delivery_cursors, unnest(tests_started_at) AS started
WHERE workspace_id = $1 AND destination_id = $2 AND started > now() - ${TEST_WINDOW}`;

@Injectable()
export class ReplayLimitsRepository {
  constructor(private readonly database: Database) {}

  /** `replay` returns the number of requested dead letters, or null where it moves the cursor. */
  async limitReplay<Result extends number | null>(
    { workspaceId, destinationId }: DestinationRef,
    replay: (run: Run) => Promise<Result>,
  ): Promise<LimitedResult<Result>> {
    const ref = [workspaceId, destinationId];
    return this.database.writeWithin(async (run): Promise<LimitedResult<Result>> => {
      const [state] = await run<ReplayState>({ text: LOCK, values: ref });
      const [letters] = await run<{ hasRequested: boolean }>({ text: HAS_REQUESTED, values: ref });
      if (state?.isBehindEnd || letters?.hasRequested) return { is: 'running' };
      if (state && state.recent >= MAX_REPLAYS_PER_HOUR)
        return { is: 'too_often', retryAfter: state.retryAfter ?? 0 };
      const result = await replay(run);
      if (state && result !== 0) {
        const values = [...ref, state.transaction, state.ordinal, result !== null];
        await run({ text: NOTE_REPLAY, values });
      }
      return { is: 'admitted', result };
    });
  }

  /** Counts one connection test; or returns the milliseconds until one more is accepted. */
  async limitTest({ workspaceId, destinationId }: DestinationRef): Promise<number | null> {
    const ref = [workspaceId, destinationId];
    const rows = await this.database.query({ text: NOTE_TEST, values: [...ref, MAX_TESTS_PER_MINUTE] });
    if (rows.length === 1) return null;
    const [wait] = await this.database.query<{ retryAfter: number }>({ text: TEST_WAIT, values: ref });
    return wait?.retryAfter ?? 0;
  }
}
