// Takes a test's own database away from everyone, as an operator or a failing server would, and gives it back.
import { administrate } from './database.js';

export interface DatabaseOutage {
  /** Ends the connections that are open now; with an application name only that application's. */
  endConnections(applicationName?: string): Promise<void>;
  end(): Promise<void>;
}

/** Rejects new connections to the database of `databaseUrl` from here on. */
export async function rejectNewConnections(databaseUrl: string): Promise<DatabaseOutage> {
  const admin = new URL(databaseUrl);
  const name = admin.pathname.slice(1);
  admin.pathname = '/postgres';
  const run = (statement: string) => administrate(admin.href, statement);
  await run(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
  return {
    endConnections: (applicationName) =>
      run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'` +
          (applicationName === undefined ? '' : ` AND application_name = '${applicationName}'`),
      ),
    end: () => run(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`),
  };
}
