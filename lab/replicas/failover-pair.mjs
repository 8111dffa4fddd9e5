// A PostgreSQL server and its synchronous standby: the first is killed or falls silent, the second is promoted.
import { execFileSync } from 'node:child_process';
import { chownSync, copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '../../scripts/embedded-database.mjs';
import { withClient } from '../../scripts/support/database-connection.mjs';
import { resolveDataDirectory } from '../../scripts/support/database-location.mjs';
import { FAULT_SETTINGS, openFaultCluster } from './fault-cluster.mjs';

/** Both servers are stopped. The copy keeps the path, the account and the log of the second. */
function makeStandby(first, second) {
  const [source, target] = [first, second].map((directory) => resolveDataDirectory(directory));
  const { uid, gid } = statSync(target);
  rmSync(target, { recursive: true });
  execFileSync('cp', ['-a', source, target]);
  copyFileSync(`${first}.password`, `${second}.password`);
  const signalFile = join(target, 'standby.signal');
  writeFileSync(signalFile, '');
  chownSync(signalFile, uid, gid);
}

/** `directory` exists and is empty. The addresses of the pair name both servers. */
export async function openFailoverPair({ directory, log, signal }) {
  const [first, second] = ['first', 'second'].map((name) => join(directory, name));
  for (const each of [first, second]) {
    // A standby needs the limits that the data had at its last start.
    const server = await startEmbeddedDatabase({ directory: each, settings: FAULT_SETTINGS, log, signal });
    await server.stop();
  }
  makeStandby(first, second);
  // Every commit waits for the standby, whatever its name.
  const settings = { synchronous_standby_names: '*' };
  const primary = await openFaultCluster({ directory: first, settings, log, signal });
  const { port, username, password } = new URL(primary.url);
  let standby;
  try {
    const primaryConnection = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
    standby = await openFaultCluster({
      directory: second,
      settings: { primary_conninfo: primaryConnection },
      log,
      signal,
    });
  } catch (error) {
    await primary.close();
    throw error;
  }
  const toPair = (url) => url.replace(`:${port}/`, `:${port},127.0.0.1:${new URL(standby.url).port}/`);
  return {
    ...primary,
    url: toPair(primary.url),
    createDatabase: async (name) => toPair(await primary.createDatabase(name)),
    /** Resolves when the standby accepts writes. */
    promote: () => withClient(standby.url, (client) => client.query('SELECT pg_promote()')),
    async close() {
      await primary.close();
      await standby.close();
    },
  };
}
