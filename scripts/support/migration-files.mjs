// The migrations in prisma/migrations, and their comparison with those that a database has applied.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFileIfPresent } from './files.mjs';
import { inRepository } from './repository.mjs';

// In the column `logs` of the rows of this service: another application of the schema may keep its rows in the same table.
const MARK = 'signalbox';

const migrationsDirectory = inRepository('prisma', 'migrations');

/** In the order in which they are applied: by name, which begins with the time. */
function readMigrations() {
  return readdirSync(migrationsDirectory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      name,
      script: readFileIfPresent(join(migrationsDirectory, name, 'migration.sql')),
    }))
    .filter(({ script }) => script !== undefined)
    .toSorted((first, second) => (first.name < second.name ? -1 : 1));
}

/** In the shape that the schema engine accepts. */
export function toMigrationList(migrations) {
  return {
    baseDir: migrationsDirectory,
    lockfile: {
      path: 'migration_lock.toml',
      content: readFileIfPresent(join(migrationsDirectory, 'migration_lock.toml')) ?? null,
    },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}

function hasChecksum(script, checksum) {
  // Git may have changed the line ends of a checkout since the migration was applied; Prisma tolerates that too.
  const unixScript = script.replaceAll('\r\n', '\n');
  return [script, unixScript, unixScript.replaceAll('\n', '\r\n')].some(
    (text) => createHash('sha256').update(text).digest('hex') === checksum,
  );
}

async function readAppliedMigrations(client) {
  try {
    const { rows } = await client.query(
      `SELECT migration_name AS name, checksum, started_at AS "startedAt", finished_at IS NOT NULL AS "isFinished",
       logs = '${MARK}' AS "isMarked" FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    return rows;
  } catch (error) {
    const isNewDatabase = error.code === '42P01';
    if (isNewDatabase) return [];
    throw error;
  }
}

/**
 * The tables of other applications that keep this one out of the schema: those with a name of this one, or any where
 * the engine has no table of its own yet. Where the applications share that table, a failed migration stops both.
 */
export async function findForeignTables(client, { migrations, foreign }) {
  const { rows } = await client.query(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')",
  );
  const found = rows.map(({ name }) => name);
  if (!found.includes('_prisma_migrations') || foreign.some(({ isFinished }) => !isFinished)) return found;
  const own = migrations.flatMap(({ script }) => [...script.matchAll(/CREATE TABLE "?(\w+)/g)]);
  const names = new Set(own.map(([, name]) => name));
  return found.filter((name) => names.has(name));
}

/** Call it in the transaction of the migration. */
export const markMigration = (client, name) =>
  client.query(`UPDATE _prisma_migrations SET logs = '${MARK}' WHERE migration_name = $1`, [name]);

/**
 * Five lists: `pending`, `changed` after they were applied, `unfinished`, `unknown` to this folder, and `foreign` ones of
 * another application.
 */
export async function compareWithDatabase(client) {
  const migrations = readMigrations();
  const applied = await readAppliedMigrations(client);
  const finished = new Map(applied.filter(({ isFinished }) => isFinished).map((row) => [row.name, row]));
  const known = new Set(migrations.map(({ name }) => name));
  return {
    migrations,
    pending: migrations.filter(({ name }) => !finished.has(name)),
    changed: migrations.filter(
      ({ name, script }) => finished.has(name) && !hasChecksum(script, finished.get(name).checksum),
    ),
    unfinished: applied.filter(
      ({ name, isFinished }) => !isFinished && !finished.has(name) && known.has(name),
    ),
    foreign: applied.filter(({ name, isMarked }) => !isMarked && !known.has(name)),
    unknown: [...finished.values()]
      .filter(({ name, isMarked }) => isMarked && !known.has(name))
      .map(({ name }) => name),
  };
}
