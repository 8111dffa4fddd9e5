// Shared reads: what is asked for at the same time is answered by one query.
import { RefusedValue } from './database-errors.js';

interface Question<Key, Result> {
  readonly key: Key;
  readonly answer: Promise<Result | null>;
  readonly resolve: (result: Result | null) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchReaderOptions<Key, Result> {
  /** What a key is told from others by. */
  readonly idOf: (key: Key) => string;
  /** Answers by the ids of the keys; what is not there is left out. Must begin to read when it is called. */
  readonly read: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Result>>;
  /** Keys that one query asks for at most. */
  readonly maxBatch: number;
  /** Queries under way at most. One that hangs must not hold up everybody: more than one. */
  readonly maxQueries: number;
}

/** How many wait is not bounded here: every one of them is a request that was let in. */
export class BatchReader<Key, Result> {
  private readonly waiting = new Map<string, Question<Key, Result>>();
  private isScheduled = false;
  private underWay = 0;

  constructor(private readonly options: BatchReaderOptions<Key, Result>) {}

  /** Null: there is none. Read after this call: a query that is under way already answers no later question. */
  find(key: Key): Promise<Result | null> {
    const id = this.options.idOf(key);
    const known = this.waiting.get(id);
    if (known) return known.answer;
    const question = ask<Key, Result>(key);
    this.waiting.set(id, question);
    this.schedule();
    return question.answer;
  }

  /** After all that has arrived in this turn of the event loop: under load that is many requests. */
  private schedule(): void {
    if (this.isScheduled || this.waiting.size === 0 || this.underWay >= this.options.maxQueries) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      void this.readNext();
    });
  }

  private async readNext(): Promise<void> {
    const batch = [...this.waiting].slice(0, this.options.maxBatch);
    // Before the query begins: whoever asks from now on asks anew.
    for (const [id] of batch) this.waiting.delete(id);
    this.underWay++;
    this.schedule();
    await this.readBatch(batch);
    this.underWay--;
    this.schedule();
  }

  /** A key that the database refuses fails nobody else: the batch is halved until that key stands alone. */
  private async readBatch(batch: readonly (readonly [string, Question<Key, Result>])[]): Promise<void> {
    try {
      const found = await this.options.read(batch.map(([, { key }]) => key));
      for (const [id, { resolve }] of batch) resolve(found.get(id) ?? null);
    } catch (error) {
      if (error instanceof RefusedValue && batch.length > 1) {
        const middle = batch.length >> 1;
        await this.readBatch(batch.slice(0, middle));
        await this.readBatch(batch.slice(middle));
        return;
      }
      for (const [, { reject }] of batch) reject(error);
    }
  }
}

function ask<Key, Result>(key: Key): Question<Key, Result> {
  let resolve!: (result: Result | null) => void;
  let reject!: (reason: unknown) => void;
  const answer = new Promise<Result | null>((onFound, onFailed) => {
    resolve = onFound;
    reject = onFailed;
  });
  return { key, answer, resolve, reject };
}
