// Batched reads: requests of the same time share one query, and equal keys share one read.
import { MicroBatcher } from '../../concurrency/micro-batcher.js';
import { STATEMENT_FAILURES } from './database-errors.js';

export interface BatchReaderOptions<Key, Result> {
  /** Identifies a key. */
  readonly idOf: (key: Key) => string;
  /** Returns results by the ids of the keys, without missing ones. Must begin to read when it is called. */
  readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Result>>;
}

const LIMITS = {
  maxBatch: 200,
  // A second query keeps the others going when one hangs.
  maxInFlight: 2,
  // Every key belongs to an admitted request.
  maxWaiting: Infinity,
  ...STATEMENT_FAILURES,
};

export class BatchReader<Key, Result> {
  private readonly pending = new Map<string, Promise<Result | null>>();
  private readonly batcher: MicroBatcher<Key, Result | null>;

  constructor(
    private readonly options: BatchReaderOptions<Key, Result>,
    limits: Pick<typeof LIMITS, 'maxBatch' | 'maxInFlight'> = LIMITS,
  ) {
    this.batcher = new MicroBatcher((keys) => this.read(keys), { ...LIMITS, ...limits });
  }

  /** Null: there is none. Reads after this call: a query in flight serves no later call. */
  find(key: Key): Promise<Result | null> {
    const id = this.options.idOf(key);
    const known = this.pending.get(id);
    if (known) return known;
    const answer = this.batcher.add(key);
    this.pending.set(id, answer);
    return answer;
  }

  private async read(keys: readonly Key[]): Promise<(Result | null)[]> {
    const ids = keys.map(this.options.idOf);
    // Before the query begins: later calls must read again.
    for (const id of ids) this.pending.delete(id);
    const found = await this.options.read(keys);
    return ids.map((id) => found.get(id) ?? null);
  }
}
