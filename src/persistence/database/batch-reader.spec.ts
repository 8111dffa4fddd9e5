import { describe, expect, it } from '@jest/globals';
import { BatchReader } from './batch-reader.js';

/** A table whose queries end on command; each sees the rows that exist when it begins. */
function openTable(limits: { readonly maxBatch?: number; readonly maxInFlight?: number } = {}) {
  const rows = new Map<string, string>();
  const queries: string[][] = [];
  const resolvers: ((error?: Error) => void)[] = [];
  const reader = new BatchReader<string, string>(
    {
      idOf: (key) => key,
      read: async (keys) => {
        queries.push([...keys]);
        const found = new Map([...rows].filter(([key]) => keys.includes(key)));
        await new Promise<void>((resolve, reject) =>
          resolvers.push((error) => (error ? reject(error) : resolve())),
        );
        return found;
      },
    },
    { maxBatch: 10, maxInFlight: 1, ...limits },
  );
  return {
    rows,
    queries,
    reader,
    /** Ends the oldest query in flight. */
    end: (error?: Error) => resolvers.shift()!(error),
    /** Sets the oldest query aside, and returns the function that ends it. */
    hang: () => resolvers.shift()!,
  };
}

/** Waits until the requested keys are being read: a query ends in one turn, and the next begins in another. */
async function untilSent(): Promise<void> {
  for (let tick = 0; tick < 3; tick++) await new Promise(setImmediate);
}

describe('the batch reader', () => {
  it('answers all requests of one turn with one query, each with its own result, null where there is none', async () => {
    const { rows, queries, reader, end } = openTable();
    rows.set('a', 'A').set('b', 'B');
    const answers = Promise.all(['a', 'c', 'b'].map((key) => reader.find(key)));
    await untilSent();
    end();
    expect(await answers).toEqual(['A', null, 'B']);
    expect(queries).toEqual([['a', 'c', 'b']]);
  });

  it('reads a key once, however many callers wait for it', async () => {
    const { rows, queries, reader, end } = openTable();
    rows.set('a', 'A');
    const answers = Promise.all(['a', 'a', 'a'].map((key) => reader.find(key)));
    await untilSent();
    end();
    expect(await answers).toEqual(['A', 'A', 'A']);
    expect(queries).toEqual([['a']]);
  });

  it('collects requests while a query is in flight, and reads the key again', async () => {
    const { rows, queries, reader, end } = openTable();
    rows.set('a', 'old');
    const early = reader.find('a');
    await untilSent();
    rows.set('a', 'new');
    const late = [reader.find('a'), reader.find('b')];
    await untilSent();
    expect(queries).toEqual([['a']]);
    end();
    expect(await early).toBe('old');
    await untilSent();
    end();
    expect(await Promise.all(late)).toEqual(['new', null]);
    expect(queries).toEqual([['a'], ['a', 'b']]);
  });

  it('respects the bounds of a query and of concurrent queries', async () => {
    const { queries, reader, end } = openTable({ maxBatch: 2, maxInFlight: 2 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => reader.find(key)));
    await untilSent();
    expect(queries).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    end();
    await untilSent();
    expect(queries[2]).toEqual(['e']);
    end();
    end();
    expect(await answers).toHaveLength(5);
  });

  it('answers other requests while a query hangs', async () => {
    const { rows, reader, end, hang } = openTable({ maxInFlight: 2 });
    rows.set('a', 'A').set('b', 'B');
    const hanging = reader.find('a');
    await untilSent();
    const endHanging = hang();
    const other = reader.find('b');
    await untilSent();
    end();
    expect(await other).toBe('B');
    endHanging();
    expect(await hanging).toBe('A');
  });

  it('rejects the requests of a failed query, and no later ones', async () => {
    const { rows, reader, end } = openTable();
    rows.set('a', 'A');
    const failing = Promise.allSettled([reader.find('a'), reader.find('b')]);
    await untilSent();
    const later = reader.find('a');
    end(new Error('away'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await untilSent();
    end();
    expect(await later).toBe('A');
  });
});
