// Shared reads: what is asked for at the same time is answered by one query, and asked for once.
import { MicroBatcher } from '../../concurrency/micro-batcher.js';
import { STATEMENT_FAILURES } from './database-errors.js';

export interface BatchReaderOptions<Key, Result> {
  /** What a key is told from others by. */
  readonly idOf: (key: Key) => string;
  /** Answers by the ids of the keys; what is not there is left out. Must begin to read when it is called. */
  readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Result>>;
}

const LIMITS = {
  maxBatch: 200,
  // One that hangs must not hold up everybody.
  maxInFlight: 2,
  // Every one of them is a request that was let in.
  maxWaiting: Infinity,
  ...STATEMENT_FAILURES,
};

export class BatchReader<Key, Result> {
  private readonly asked = new Map<string, Promise<Result | null>>();
  private readonly batcher: MicroBatcher<Key, Result | null>;

  constructor(
    private readonly options: BatchReaderOptions<Key, Result>,
    limits: Pick<typeof LIMITS, 'maxBatch' | 'maxInFlight'> = LIMITS,
  ) {
    this.batcher = new MicroBatcher((keys) => this.read(keys), { ...LIMITS, ...limits });
  }

  /** Null: there is none. Read after this call: a query that is under way already answers no later question. */
  find(key: Key): Promise<Result | null> {
    const id = this.options.idOf(key);
    const known = this.asked.get(id);
    if (known) return known;
    const answer = this.batcher.add(key);
    this.asked.set(id, answer);
    return answer;
  }

  private async read(keys: readonly Key[]): Promise<(Result | null)[]> {
    const ids = keys.map(this.options.idOf);
    // Before the query begins: whoever asks from now on asks anew.
    for (const id of ids) this.asked.delete(id);
    const found = await this.options.read(keys);
    return ids.map((id) => found.get(id) ?? null);
  }
}
