// Makes the spend counters anew from the generation log, which they are sums of, while calls go on being settled.
//
// A call's row and what it adds to the counters are one commit: with one snapshot every counter equals the log, or is
// wrong. The log is read by a transaction that only reads: it has no number, so that readers of the log, who take what is
// older than every open transaction, do not wait for it. The wrong counters are corrected some at a time, each time by a
// short transaction that locks them and adds what has come into the log since.
import type { SpendOwnerKind } from '../../domain/spend/spend-lease.js';
import { isLockTimeout } from '../database/database-errors.js';
import type { CommandSession, Database } from '../database/database.js';
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
} from './spend-rebuild-statements.js';

// Rows that travel at a time.
const PAGE = 1_000;
/** Milliseconds. */
const LOCK_TIMEOUT = 5_000;

/** How many counters of each kind were wrong. */
export type CorrectedCounters = Record<SpendOwnerKind, number>;

export interface RebuildOptions {
  /** Corrects counters also where the log holds less than they have counted. */
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
 * Calls that are settled at the same time are neither lost nor counted twice; they wait for wrong counters alone, and only
 * while these are corrected. Throws without `force` where the log holds less than a counter has counted, and changes
 * nothing then.
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

/** A transaction that wrote what it finds would hold the log back: another session keeps it. */
async function findWrong(reader: CommandSession, keeper: CommandSession): Promise<void> {
  await reader.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Before the snapshot, which is that of the first statement: none of the log's rows moves to another partition then.
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
      'Parts of the log were dropped, or rows were removed: lifetime limits and credits would begin again at what is left.',
      'Restore the log, or make the counters what is left of it with --force.',
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
