// Rate limits of replays and tests: a replay of a small request may send a hundred megabytes to a third party. They
// are stored in the cursor's row, so that they hold across replicas and restarts, by the clock of the database.
import { Injectable } from '@nestjs/common';
import { MAX_REPLAYS_PER_HOUR, MAX_TESTS_PER_MINUTE } from '../../domain/destinations/delivery.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import { HAS_REQUESTED, LOCK_LIMITS, NOTE_REPLAY, NOTE_TEST, TEST_WAIT } from './replay-statements.js';
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
      const [state] = await run<ReplayState>({ text: LOCK_LIMITS, values: ref });
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
