// A backup of a database, and a PostgreSQL server of its own to restore it into: with small transaction numbers again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import pg from 'pg';
import type { TestDatabase } from './database.js';

const script = (path: string): string =>
  JSON.stringify(new URL(`../../../scripts/${path}`, import.meta.url).href);

// In a process of its own, which takes the server down when this one ends, however it ends.
const PROGRAM = `
  const { openScratchServer } = await import(${script('support/scratch-server.mjs')});
  const { migrate } = await import(${script('migrate.mjs')});
  const server = await openScratchServer({ progress: { line: () => undefined, step: (_text, work) => work() } });
  process.stdin.resume().on('end', () => server.close().then(() => process.exit()));
  const { url } = await server.createDatabase('restored');
  await migrate({ databaseUrl: url, log: () => undefined });
  process.stdout.write(url + '\\n');
`;

/** A new server with one database, to which the migrations were applied. */
export async function createDatabaseOnNewServer(): Promise<TestDatabase> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    closed.then(([code]) => Promise.reject(new Error(`the server's process ended with ${code}`))),
  ])) as [string];
  return {
    url: line,
    drop: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

/** Table and rows as JSON, in one snapshot. */
export type Backup = readonly (readonly [table: string, rows: string])[];

/**
 * A copy like pg_dump's of a database during writes. No package contains pg_dump; the rows go through JSON, which
 * holds all of their values exactly. Partitions are omitted: their rows are those of their tables.
 */
export async function backUp(databaseUrl: string): Promise<Backup> {
  return withClient(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition ORDER BY relname`,
    );
    const backup: [string, string][] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ rows: string }>(
        `SELECT coalesce(jsonb_agg(to_jsonb(row)), '[]')::text AS rows FROM "${name}" AS row`,
      );
      backup.push([name, rows[0]!.rows]);
    }
    return backup;
  });
}

/** As pg_restore does: no trigger and no foreign key looks at a row, and what migrations wrote gives way. */
export async function restore(backup: Backup, databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query('SET session_replication_role = replica');
    await client.query(`TRUNCATE ${backup.map(([table]) => `"${table}"`).join(', ')}`);
    for (const [table, rows] of backup) {
      await client.query(
        `INSERT INTO "${table}" SELECT * FROM jsonb_populate_recordset(NULL::"${table}", $1)`,
        [rows],
      );
    }
    await client.query('COMMIT');
  });
}

async function withClient<Result>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
