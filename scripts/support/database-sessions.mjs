// The addresses of the database, and whether connections to them have sessions of their own.
import { withClient } from './database-connection.mjs';
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

/** `directUrl` leads to PostgreSQL itself where a pooler stands before `databaseUrl`. */
export function findAddresses(environment) {
  const databaseUrl = environment.DATABASE_URL.trim();
  return { databaseUrl, directUrl: environment.DATABASE_DIRECT_URL?.trim() || databaseUrl };
}

const inspect = (databaseUrl) => withClient(databaseUrl, ({ isPooled, state }) => ({ isPooled, ...state }));

/**
 * Throws when a pooler in transaction mode stands before the address that needs sessions, and when connections to the
 * two addresses would not find the same tables or read the same values.
 */
export async function requireSessions(environment, log = () => undefined) {
  const { databaseUrl, directUrl } = findAddresses(environment);
  const direct = await inspect(directUrl);
  const usual = directUrl === databaseUrl ? direct : await inspect(databaseUrl);
  if (usual.schema !== direct.schema) {
    throw new ScriptError(
      `DATABASE_URL leads to the schema ${usual.schema} and DATABASE_DIRECT_URL to ${direct.schema}: ` +
        'add the parameter schema to both, with one name',
    );
  }
  if (!direct.isPooled && !usual.isPooled) return;
  const pooling = await importBuilt('persistence/connections/transaction-pooling.js');
  const databaseDirectUrl = directUrl === databaseUrl ? undefined : directUrl;
  try {
    await pooling.requireSessions({ databaseUrl, databaseDirectUrl });
  } catch (error) {
    throw error.name === 'ConfigError' ? new ScriptError(error.message) : error;
  }
  const missing = databaseDirectUrl && (await pooling.inspectPooling(databaseUrl, direct.schema));
  if (!missing) return;
  if (missing.length > 0) {
    throw new ScriptError(
      'DATABASE_URL leads through a pooler in transaction mode, which keeps no settings of a session. ' +
        `Give them to the role, and restart the pooler: ${missing.join('; ')}`,
    );
  }
  log(
    'DATABASE_URL leads through a pooler in transaction mode; notifications, locks and migrations use DATABASE_DIRECT_URL',
  );
}
