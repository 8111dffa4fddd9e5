// The partitions of the log: by UTC day, created ahead of time by any number of replicas without blocking.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { GenerationContent } from '../../src/domain/generations/generation-content.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { Metrics } from '../../src/config/metrics.js';
import { Partitions } from '../../src/upkeep/partitions.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { createGeneration } from '../support/generations/generation.js';
import { eventually } from '../support/eventually.js';
import { untilLockWait } from '../support/database/waiting-statements.js';

let app: TestApp;
let clients: pg.Client[] = [];
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(() => {
  clients = [];
});
afterEach(async () => {
  for (const client of clients) await client.end();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  clients.push(client);
  return client;
}

/** The partitions of a table in a year, with their bounds. */
async function partitionsOf(parent: string, year: number): Promise<Record<string, string>> {
  const client = await connect();
  await client.query("SET timezone = 'UTC'");
  const { rows } = await client.query<{ name: string; bounds: string }>(
    `SELECT inhrelid::regclass::text AS name, pg_get_expr(relpartbound, inhrelid) AS bounds
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = $1::regclass AND relname LIKE $2 ORDER BY 1`,
    [parent, `${parent}_${year}%`],
  );
  return Object.fromEntries(rows.map(({ name, bounds }) => [name, bounds]));
}

/** Where a statement holds the log for too long, the rest waits for the next run. */
async function untilDefaultIsEmpty(rowsInStep?: number): Promise<void> {
  await eventually(
    async () => {
      await app.application.get(Partitions).emptyDefault(rowsInStep);
      return app.sql(
        'SELECT FROM ONLY generations_default UNION ALL SELECT FROM ONLY generation_contents_default',
      );
    },
    ({ length }) => length === 0,
  );
}

const from = (start: string, end: string): string =>
  `FOR VALUES FROM ('${start} 00:00:00+00') TO ('${end} 00:00:00+00')`;
const ENSURE = 'SELECT ensure_time_partitions($1)';
const DAYS_OF_2040 = [
  ['2040_10_30', from('2040-10-30', '2040-10-31')],
  ['2040_10_31', from('2040-10-31', '2040-11-01')],
  ['2040_11_01', from('2040-11-01', '2040-11-02')],
  ['2040_11_02', from('2040-11-02', '2040-11-03')],
  ['2040_11_03', from('2040-11-03', '2040-11-04')],
] as const;

describe('creating partitions', () => {
  it.each(['generations', 'generation_contents'])('covers this day and the next four: %s', async (table) => {
    await app.sql(ENSURE, ['2040-10-30T12:00:00Z']);
    const expected = DAYS_OF_2040.map(([day, bounds]) => [`${table}_${day}`, bounds]);
    expect(await partitionsOf(table, 2040)).toEqual(Object.fromEntries(expected));
  });

  it('reports the following days that have partitions, up to the first that has none', async () => {
    const reported = async (): Promise<number | undefined> => {
      await app.application.get(Partitions).ensure();
      const text = await app.application.get(Metrics).registry.metrics();
      return Number(/^signalbox_log_days_ahead (\d+)$/m.exec(text)?.[1]);
    };
    expect(await reported()).toBe(4);
    await app.sql('DROP TABLE generations_2026_11_21');
    // Rows of that day are in its way until they are moved.
    await app.application
      .get(GenerationLog)
      .append(createGeneration(app.key, { createdAt: new Date('2026-11-21T00:00:00Z') }));
    expect(await reported()).toBe(2);
    await untilDefaultIsEmpty();
    expect(await reported()).toBe(4);
  });

  it('makes no day of a month that has a partition', async () => {
    await app.sql(
      `CREATE TABLE generations_2044_02 PARTITION OF generations FOR VALUES FROM ('2044-02-01 00:00Z') TO ('2044-03-01 00:00Z')`,
    );
    await app.sql(ENSURE, ['2044-02-27T00:00:00Z']);
    expect(Object.keys(await partitionsOf('generations', 2044))).toEqual([
      'generations_2044_02',
      'generations_2044_03_01',
      'generations_2044_03_02',
    ]);
  });

  it('changes nothing the second time', async () => {
    const before = [await partitionsOf('generations', 2040), await partitionsOf('generation_contents', 2040)];
    await app.sql(ENSURE, ['2040-10-30T12:00:00Z']);
    expect([
      await partitionsOf('generations', 2040),
      await partitionsOf('generation_contents', 2040),
    ]).toEqual(before);
  });

  it('creates each partition once when many replicas do it at the same time, and fails none of them', async () => {
    const replicas = await Promise.all(Array.from({ length: 10 }, connect));
    await Promise.all(replicas.map((replica) => replica.query(ENSURE, ['2041-01-31T23:59:59Z'])));
    expect(Object.keys(await partitionsOf('generations', 2041))).toEqual([
      'generations_2041_01_31',
      'generations_2041_02_01',
      'generations_2041_02_02',
      'generations_2041_02_03',
      'generations_2041_02_04',
    ]);
  });

  it('uses UTC with any time zone of the connection', async () => {
    const [east, west] = [await connect(), await connect()];
    await east.query("SET timezone = 'Pacific/Auckland'");
    await west.query("SET timezone = 'America/Los_Angeles'");
    await east.query(ENSURE, ['2042-12-30T23:30:00Z']);
    await west.query(ENSURE, ['2042-12-30T00:30:00Z']);
    expect(await partitionsOf('generations', 2042)).toEqual({
      generations_2042_12_30: from('2042-12-30', '2042-12-31'),
      generations_2042_12_31: from('2042-12-31', '2043-01-01'),
    });
  });

  it('creates the other days although the default partition holds rows of one of them', async () => {
    const log = app.application.get(GenerationLog);
    await log.append(createGeneration(app.key, { createdAt: new Date('2045-06-15T00:00:00Z') }));
    await app.sql(ENSURE, ['2045-06-14T00:00:00Z']);
    expect(Object.keys(await partitionsOf('generations', 2045))).toEqual([
      'generations_2045_06_14',
      'generations_2045_06_16',
      'generations_2045_06_17',
      'generations_2045_06_18',
    ]);
  });
});

describe('a generation', () => {
  const partitionOf = async (moment: string): Promise<string> => {
    const generation = createGeneration(app.key, { createdAt: new Date(moment) });
    await app.application.get(GenerationLog).append(generation);
    const [row] = await app.sql<{ place: string }>(
      'SELECT tableoid::regclass::text AS place FROM generations WHERE id = $1 AND created_at = $2',
      [generation.id, generation.createdAt],
    );
    return row!.place;
  };

  it.each([
    ['2026-11-18T23:59:59.999Z', 'generations_2026_11_18'],
    ['2026-11-19T00:00:00.000Z', 'generations_2026_11_19'],
    ['2020-02-29T00:00:00.000Z', 'generations_default'],
    ['2061-01-01T00:00:00.000Z', 'generations_default'],
  ])('of %s is stored in %s', async (moment, expected) => {
    expect(await partitionOf(moment)).toBe(expected);
  });

  it('is appended and read by its time while a partition waits for a reader of the whole log', async () => {
    const [reader, maker] = [await connect(), await connect()];
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM generations');
    const made = maker.query(ENSURE, ['2050-01-01T00:00:00Z']);
    await untilLockWait(app);
    expect(await partitionOf('2026-11-18T12:00:00.000Z')).toBe('generations_2026_11_18');
    await reader.query('COMMIT');
    await made;
    expect(Object.keys(await partitionsOf('generations', 2050))).toHaveLength(5);
  });

  it('has the workspace first in its key, in every partition', async () => {
    const rows = await app.sql<{ definition: string }>(
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
       WHERE indisprimary AND indrelid IN (SELECT inhrelid FROM pg_inherits
         WHERE inhparent IN ('generations'::regclass, 'generation_contents'::regclass))`,
    );
    expect(rows.length).toBeGreaterThan(6);
    for (const { definition } of rows) expect(definition).toContain('(workspace_id, created_at, ');
  });
});

describe('rows of the default partition', () => {
  const append = (moment: string, content: GenerationContent | null = null): Promise<string> => {
    const generation = createGeneration(app.key, { createdAt: new Date(moment) });
    return app.application
      .get(GenerationLog)
      .append(generation, [], content)
      .then(() => generation.id);
  };
  const rowsOf = (table: string, ids: readonly string[]) => {
    const id = table === 'generations' ? 'id' : 'generation_id';
    return app.sql<{ partition: string; row: object }>(
      `SELECT tableoid::regclass::text AS partition, to_json(entry) AS row FROM ${table} AS entry
       WHERE ${id} = ANY($1) ORDER BY created_at`,
      [ids],
    );
  };
  const content: GenerationContent = { items: ['text'], isTruncated: false, errorMessage: null };

  it('move to their own partitions unchanged, for any day', async () => {
    const ids = [];
    for (const moment of ['2019-02-28T23:59:59.999Z', '2070-01-01T00:00:00.000Z', '2071-12-31T12:00:00.000Z'])
      ids.push(await append(moment, content));
    const before = {
      generations: await rowsOf('generations', ids),
      contents: await rowsOf('generation_contents', ids),
    };
    expect(before.generations.map(({ partition }) => partition)).toEqual(
      Array(3).fill('generations_default'),
    );
    expect(before.contents.map(({ partition }) => partition)).toEqual(
      Array(3).fill('generation_contents_default'),
    );

    await untilDefaultIsEmpty();
    const after = {
      generations: await rowsOf('generations', ids),
      contents: await rowsOf('generation_contents', ids),
    };
    expect(after.generations.map(({ row }) => row)).toEqual(before.generations.map(({ row }) => row));
    expect(after.contents.map(({ row }) => row)).toEqual(before.contents.map(({ row }) => row));
    expect(after.generations.map(({ partition }) => partition)).toEqual([
      'generations_2019_02_28',
      'generations_2070_01_01',
      'generations_2071_12_31',
    ]);
    expect(after.contents.map(({ partition }) => partition)).toEqual([
      'generation_contents_2019_02_28',
      'generation_contents_2070_01_01',
      'generation_contents_2071_12_31',
    ]);
    expect(await partitionsOf('generations', 2070)).toEqual({
      generations_2070_01_01: from('2070-01-01', '2070-01-02'),
    });
  });

  it('move in steps: a day becomes several partitions without a gap, and the next is created', async () => {
    const ids = [];
    for (let hour = 10; hour < 20; hour++) ids.push(await append(`2080-05-31T${hour}:30:00.000Z`));
    await untilDefaultIsEmpty(4);
    expect(await rowsOf('generations', ids)).toHaveLength(10);
    const bounds = Object.values(await partitionsOf('generations', 2080)).toSorted();
    const moments = bounds.map((text) => [...text.matchAll(/'([^']+)'/g)].map(([, moment]) => moment));
    expect(moments).toHaveLength(3);
    expect([moments[0]![0], moments.at(-1)![1]]).toEqual([
      '2080-05-31 00:00:00+00',
      '2080-06-01 00:00:00+00',
    ]);
    for (const [index, [start]] of moments.slice(1).entries()) expect(start).toBe(moments[index]![1]);
    await app.sql(ENSURE, ['2080-05-31T00:00:00Z']);
    expect(Object.keys(await partitionsOf('generations', 2080))).toEqual(
      expect.arrayContaining(['generations_2080_05_31', 'generations_2080_06_01', 'generations_2080_06_04']),
    );
  });

  it('are missed by no reader and lost by no append while they move', async () => {
    const ids: string[] = [];
    for (let day = 1; day <= 28; day++)
      ids.push(await append(`2085-02-${String(day).padStart(2, '0')}T12:00:00.000Z`));
    const end = new AbortController();
    const counts = new Set<number>();
    const read = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const [row] = await app.sql<{ count: number }>(
          `SELECT count(*)::integer AS count FROM generations
           WHERE id = ANY($1) AND created_at BETWEEN '2085-02-01' AND '2085-03-01'`,
          [ids],
        );
        counts.add(row!.count);
      }
    };
    const appended: string[] = [];
    // Ten times: every step creates one partition, so each further time can cost a step.
    const write = async (): Promise<void> => {
      while (!end.signal.aborted)
        appended.push(await append(`2085-02-15T12:00:00.00${appended.length % 10}Z`));
    };
    const others = [read(), read(), write()];
    try {
      await untilDefaultIsEmpty(5);
    } finally {
      end.abort();
      await Promise.all(others);
    }
    expect([...counts]).toEqual([ids.length]);
    expect(await rowsOf('generations', [...ids, ...appended])).toHaveLength(ids.length + appended.length);
  });

  it('stay during a read of the whole log, without blocking appends', async () => {
    const id = await append('2090-01-01T12:00:00.000Z');
    const reader = await connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM generations');
    const emptied = app.application.get(Partitions).emptyDefault();
    await untilLockWait(app);
    const other = append('2026-11-18T12:00:00.000Z');
    await emptied;
    await other;
    expect((await rowsOf('generations', [id]))[0]?.partition).toBe('generations_default');
    await reader.query('COMMIT');
    await untilDefaultIsEmpty();
    expect((await rowsOf('generations', [id]))[0]?.partition).toBe('generations_2090_01_01');
  });
});
