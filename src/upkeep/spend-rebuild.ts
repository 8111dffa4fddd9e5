// Rebuilds the spend counters from the generation log and the spend of its dropped partitions, of which they are sums,
// while calls are settled.
//
// A call's row and its additions to the counters are one commit: in one snapshot every counter equals the log, or is
// wrong. A read-only transaction reads the log: it has no number, so that readers of the log do not wait for it.
// Short transactions then correct the wrong counters in batches: each locks them and adds the rows that were appended
// since.
import type { SpendOwnerKind } from '../domain/spend/spend-lease.js';
import { isLockTimeout } from '../persistence/database/database-errors.js';
import type { CommandSession, Database } from '../persistence/database/database.js';
import {
  COUNT,
  CREATE_TABLES,
  DROP_TABLES,
  FIND_SHORT,
  FIND_WRONG,
  KEEP_FOUND,
  MAX_NAMED,
  TAKE_BATCH,
  correctBatch,
} from '../persistence/spend/spend-rebuild-statements.js';

// Rows of one fetch.
const PAGE = 1_000;
/** Milliseconds. */
const LOCK_TIMEOUT = 5_000;

/** The number of wrong counters of each kind. */
export type CorrectedCounters = Record<SpendOwnerKind, number>;

export interface RebuildOptions {
  /** Also corrects counters when the log holds less than they have counted. */
  readonly force?: boolean;
  /** Milliseconds to wait for a counter that another transaction holds. */
  readonly timeout?: number;
}

/** The log holds less than a counter has counted. */
type ShortLog = {
  readonly holder: SpendOwnerKind;
  readonly holder_id: string;
  readonly counted: string;
  readonly logged: string;
};

/**
 * Concurrently settled calls are neither lost nor counted twice. They wait for wrong counters alone, and only during
 * their correction. Without `force` it throws, and changes nothing, when the log holds less than a counter has
 * counted.
 */
export async function rebuildSpend(
  database: Database,
  { force = false, timeout = LOCK_TIMEOUT }: RebuildOptions = {},
): Promise<CorrectedCounters> {
  return database.withSession(async (session) => {
    for (const text of [DROP_TABLES, ...CREATE_TABLES]) await session.run(text);
    await database.withSession((reader) => findWrong(reader, session));
    if (!force) await rejectShortLog(session);
    await correctAll(session, timeout);
    const [corrected] = await session.run<CorrectedCounters>(COUNT);
    if (!corrected) throw new Error('the counters were not counted');
    await session.run(DROP_TABLES);
    return corrected;
  });
}

/** Another session keeps the found counters: a transaction that wrote them would hold the log back. */
async function findWrong(reader: CommandSession, keeper: CommandSession): Promise<void> {
  await reader.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Before the snapshot, which the first statement takes: no rows of the log move to another partition then.
  await reader.run('LOCK TABLE generations IN ACCESS SHARE MODE');
  await reader.run(FIND_WRONG);
  for (;;) {
    const rows = await reader.run(`FETCH ${PAGE} FROM wrong_found`);
    if (rows.length === 0) break;
    await keeper.run(KEEP_FOUND, [JSON.stringify(rows)]);
  }
  await reader.run('COMMIT');
}

async function rejectShortLog(session: CommandSession): Promise<void> {
  const short = await session.run<ShortLog>(FIND_SHORT);
  if (short.length === 0) return;
  const lines = short
    .slice(0, MAX_NAMED)
    .map(
      ({ holder, holder_id: id, counted, logged }) =>
        `  ${holder} ${id}: ${counted} USD counted, ${logged} USD in the log`,
    );
  throw new Error(
    [
      'The log holds less than these counters have counted; nothing was changed:',
      ...lines,
      ...(short.length > MAX_NAMED ? ['  and others'] : []),
      'Partitions were dropped by hand, or rows were removed: lifetime limits and credits would restart from the rest.',
      'Restore the log, or set the counters to the rest of the log with --force.',
    ].join('\n'),
  );
}

async function correctAll(session: CommandSession, timeout: number): Promise<void> {
  let corrected = 0;
  for (let last = '0'; ;) {
    await session.run('TRUNCATE wrong_counters');
    const batch = await session.run<{ place: string }>(TAKE_BATCH, [last]);
    const end = batch.at(-1);
    if (!end) return;
    try {
      await session.transaction(correctBatch(timeout));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const held = `Another transaction holds a spend counter for longer than ${timeout / 1000} s`;
      const done = corrected === 0 ? 'nothing was changed' : `${corrected} counters were corrected`;
      throw new Error(`${held}; ${done}. Try again.`, { cause: error });
    }
    corrected += batch.length;
    last = end.place;
  }
}
