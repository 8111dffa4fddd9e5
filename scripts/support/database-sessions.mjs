// The addresses of the database, and whether connections to them have sessions of their own.
import { withClient } from './database-connection.mjs';
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

/** `directUrl` leads to PostgreSQL itself where a pooler stands before `databaseUrl`. */
export function findAddresses(environment) {
  const databaseUrl = environment.DATABASE_URL.trim();
  return { databaseUrl, directUrl: environment.DATABASE_DIRECT_URL?.trim() || databaseUrl };
}

/** Whether another process answers than the one of the handshake. */
function isPooled(databaseUrl) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS id');
    return rows[0].id !== client.processID;
  });
}

/** Throws when a pooler in transaction mode stands before the address that needs sessions. */
export async function requireSessions(environment, log = () => undefined) {
  const { databaseUrl, directUrl } = findAddresses(environment);
  // The build is only needed behind a pooler.
  if (!(await isPooled(directUrl)) && (databaseUrl === directUrl || !(await isPooled(databaseUrl)))) return;
  const pooling = await importBuilt('persistence/connections/transaction-pooling.js');
  const databaseDirectUrl = directUrl === databaseUrl ? undefined : directUrl;
  try {
    await pooling.requireSessions({ databaseUrl, databaseDirectUrl });
  } catch (error) {
    throw error.name === 'ConfigError' ? new ScriptError(error.message) : error;
  }
  if (databaseDirectUrl !== undefined && (await pooling.poolsTransactions(databaseUrl)))
    log(
      'DATABASE_URL leads through a pooler in transaction mode; notifications, locks and migrations use DATABASE_DIRECT_URL',
    );
}
