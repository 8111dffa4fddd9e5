// Whether a pooler gives each transaction another session of PostgreSQL, as PgBouncer does with `pool_mode =
// transaction`. Notifications, session locks and temporary tables are lost there.
import { ConfigError } from '../../config/environment-reader.js';
import { DatabaseClient } from './database-client.js';
import { ServerLocator } from './server-locator.js';
import { findMissingSettings } from './server-state.js';

// Milliseconds.
const TIMEOUT = 5_000;
// A session that is free is usually the next one in use. On a busy pooler it takes a few rounds.
const ROUNDS = 5;

const PROCESS_ID = 'SELECT pg_backend_pid() AS id';

type Session = Pick<DatabaseClient, 'query' | 'isPooled'>;

/** `one` and `other` are open connections to the same address. False for a pooler in session mode. */
export async function sharesSessions(one: Session, other: Session): Promise<boolean> {
  if (!one.isPooled) return false;
  for (let round = 0; round < ROUNDS; round++) {
    const before = await processIdOf(one);
    // The other connection keeps its session until the end of the transaction.
    await other.query('BEGIN');
    try {
      if (before === (await processIdOf(other)) || before !== (await processIdOf(one))) return true;
    } finally {
      await other.query('ROLLBACK');
    }
  }
  return false;
}

async function processIdOf(session: Session): Promise<number | undefined> {
  const { rows } = await session.query<{ id: number }>(PROCESS_ID);
  return rows[0]?.id;
}

/** The addresses of the database, as the configuration has them. */
interface DatabaseAddresses {
  readonly databaseUrl: string;
  readonly databaseDirectUrl?: string;
}

/** Throws ConfigError when the connections that need a session of their own do not get one. */
export async function requireSessions({ databaseUrl, databaseDirectUrl }: DatabaseAddresses): Promise<void> {
  if (!(await poolsTransactions(databaseDirectUrl ?? databaseUrl))) return;
  throw new ConfigError(
    databaseDirectUrl === undefined
      ? 'DATABASE_URL leads through a pooler in transaction mode: set DATABASE_DIRECT_URL to the address of PostgreSQL itself'
      : 'DATABASE_DIRECT_URL leads through a pooler in transaction mode: it must be the address of PostgreSQL itself',
  );
}

async function poolsTransactions(url: string): Promise<boolean> {
  return (await inspectPooling(url, null)) !== null;
}

/**
 * Null: no pooler in transaction mode stands before the address. Otherwise the statements that give its sessions the
 * settings which such a pooler does not keep.
 */
export async function inspectPooling(url: string, schema: string | null): Promise<readonly string[] | null> {
  const servers = new ServerLocator(url);
  const open = () =>
    new DatabaseClient(servers, {
      application_name: 'signalbox',
      connectionTimeoutMillis: TIMEOUT,
      query_timeout: TIMEOUT,
    });
  const [one, other] = [open(), open()];
  try {
    await one.connect();
    if (!one.isPooled) return null;
    await other.connect();
    if (!(await sharesSessions(one, other))) return null;
    const { role, database } = one.state ?? {};
    const settings = await findMissingSettings(one, schema);
    return settings.map((setting) => `ALTER ROLE ${role} IN DATABASE ${database} SET ${setting}`);
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => undefined)));
  }
}
