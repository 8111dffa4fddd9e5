// The positions of the log: they rise when the data has moved to another server, and only then, during any writes.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { hadCommitted, parseSnapshot } from '../../src/domain/destinations/delivery.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { rebaseLog } from '../../src/persistence/database/log-offset.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { createGeneration } from '../support/generations/generation.js';
import { untilLockWait } from '../support/database/waiting-statements.js';

const ERA = 2n ** 48n;

let app: TestApp;
let clients: pg.Client[] = [];
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
});
afterAll(() => app.close());

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  clients.push(client);
  return client;
}

const rebaseAgain = async (): Promise<void> => rebaseLog(await connect());

async function readOffset(): Promise<{ value: bigint; home: string }> {
  const [row] = await app.sql<{ value: string; home: string }>('SELECT * FROM log_offset');
  return { value: BigInt(row!.value), home: row!.home };
}

/** Like a restored backup: the same row, written by another transaction. */
const rewriteRow = () => app.sql('UPDATE log_offset SET value = value');

async function append(): Promise<bigint> {
  const generation = createGeneration(app.key);
  await app.application.get(GenerationLog).append(generation);
  return positionOf(generation.id);
}

async function positionOf(id: string): Promise<bigint> {
  const [row] = await app.sql<{ number: string }>(
    'SELECT log_transaction AS number FROM generations WHERE id = $1',
    [id],
  );
  return BigInt(row!.number);
}

/** A generation of a writer other than the service, which leaves the position to the database. */
async function insertCopy(client: pg.Client, id: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO generations SELECT (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(),
       'log_transaction', current_log_transaction()))).* FROM generations AS g WHERE g.id = $1 RETURNING id`,
    [id],
  );
  return rows[0]!.id;
}

describe('a log on its own server', () => {
  it('keeps its offset, for any connection and maintenance of its table', async () => {
    const before = await readOffset();
    await rebaseAgain();
    await app.sql('VACUUM (FREEZE) log_offset');
    await rebaseAgain();
    await app.sql('VACUUM FULL log_offset');
    await rebaseAgain();
    expect(await readOffset()).toEqual(before);
  });

  it('is initialised by the first connection', async () => {
    const [row] = await app.sql<{ is_home: boolean }>('SELECT is_log_at_home() AS is_home');
    expect(row).toEqual({ is_home: true });
  });
});

describe('a copied log', () => {
  it('continues after every position that the original can have assigned', async () => {
    const before = await append();
    const { value, home } = await readOffset();
    await rewriteRow();
    await rebaseAgain();
    const after = await readOffset();
    expect(after.value).toBe((value / ERA + 1n) * ERA);
    expect(after.home).not.toBe(home);
    expect(await append()).toBeGreaterThan(before);
  });

  it('rises once for any number of concurrent connections', async () => {
    const { value } = await readOffset();
    await rewriteRow();
    const all = await Promise.all(Array.from({ length: 12 }, connect));
    await Promise.all(all.map(rebaseLog));
    expect((await readOffset()).value).toBe(value + ERA);
  });

  it('rises before the first append when it replaced another under a running process', async () => {
    await append();
    const { value } = await readOffset();
    await rewriteRow();
    await app.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'signalbox'`,
    );
    const first = await eventually(
      () => append().catch(() => null),
      (number) => number !== null,
    );
    expect(first).toBeGreaterThan(value + ERA);
  });

  it('assigns the new positions to a waiting append', async () => {
    const { value } = await readOffset();
    await rewriteRow();
    const settler = await connect();
    await settler.query('BEGIN');
    await settler.query('SELECT settle_log()');
    const appended = append();
    await untilLockWait(app);
    await settler.query('COMMIT');
    expect(await appended).toBeGreaterThan(value + ERA);
  });

  it('assigns them to other waiting writers as well', async () => {
    const generation = createGeneration(app.key);
    await app.application.get(GenerationLog).append(generation);
    const { value } = await readOffset();
    await rewriteRow();
    const [settler, writer] = [await connect(), await connect()];
    await settler.query('BEGIN');
    await settler.query('SELECT settle_log()');
    const inserted = insertCopy(writer, generation.id);
    await untilLockWait(app);
    await settler.query('COMMIT');
    expect(await positionOf(await inserted)).toBeGreaterThan(value + ERA);
  });

  it('waits for appends with the old positions', async () => {
    const generation = createGeneration(app.key);
    await app.application.get(GenerationLog).append(generation);
    const { value } = await readOffset();
    const writer = await connect();
    await writer.query('BEGIN');
    // A connection that the app opens now waits as well; else it may have raised the offset already.
    await writer.query('SELECT FROM log_offset');
    await rewriteRow();
    const id = await insertCopy(writer, generation.id);
    const settled = rebaseAgain();
    await untilLockWait(app);
    await writer.query('COMMIT');
    await settled;
    expect(await positionOf(id)).toBeLessThan(value + ERA);
    expect((await readOffset()).value).toBe(value + ERA);
  });

  it('rejects connections without its offset, and reports the reason', async () => {
    const { value } = await readOffset();
    const [row] = await app.sql<{ home: string }>('DELETE FROM log_offset RETURNING home');
    await expect(rebaseAgain()).rejects.toThrow('log_offset has lost its row');
    await app.sql('INSERT INTO log_offset (value, home) VALUES ($1, $2)', [value, row?.home]);
    await rebaseAgain();
    expect((await readOffset()).value).toBe(value + ERA);
  });
});

describe('a snapshot in positions of the log', () => {
  it("agrees with the server's snapshot about every transaction", async () => {
    const { value } = await readOffset();
    const open = await Promise.all([connect(), connect()]);
    const ids: bigint[] = [];
    for (const client of open) {
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
      ids.push(BigInt(rows[0]!.id));
    }
    // A later, finished transaction: the others are compared with it one by one.
    await app.sql('SELECT pg_current_xact_id()');
    const [row] = await app.sql<{ own: string; log: string }>(
      'SELECT pg_current_snapshot()::text AS own, current_log_snapshot()::pg_snapshot::text AS log',
    );
    const [own, log] = [parseSnapshot(row!.own), parseSnapshot(row!.log)];
    expect(own.open.size).toBeGreaterThan(0);
    for (let id = ids[0]! - 3n; id < own.next + 3n; id++)
      expect(hadCommitted(log, id + value)).toBe(hadCommitted(own, id));
    expect(hadCommitted(log, value + ids[0]!)).toBe(false);
  });
});

describe('a database without the migration', () => {
  it('accepts connections: the readiness check reports it', async () => {
    await app.sql('DROP FUNCTION is_log_at_home()');
    await expect(rebaseAgain()).resolves.toBeUndefined();
  });
});
