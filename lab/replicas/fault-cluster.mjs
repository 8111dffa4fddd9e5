// A PostgreSQL server that can be killed, stopped at once, paused, and restarted on its port.
import { execFileSync } from 'node:child_process';
import { startEmbeddedDatabase } from '../../scripts/embedded-database.mjs';
import { migrate } from '../../scripts/migrate.mjs';
import { connect, createDatabase, withClient } from '../../scripts/support/database-connection.mjs';
import { resolveDataDirectory } from '../../scripts/support/database-location.mjs';
import { findPostmaster } from '../../scripts/support/postmaster.mjs';
import { sendSignal, sleep } from '../../scripts/support/processes.mjs';

// Killed processes have passed their writes to the system; only a power cut would lose them. Commits still wait for
// the server's own buffers to be written.
export const FAULT_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: 60,
  shared_buffers: '64MB',
};
const TIMEOUT_MS = 30_000;

/** The server and all its processes, each of which has a group of its own. */
function family(pid) {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const children = rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid);
  return [pid, ...children.map(([child]) => child)];
}

/** The database in `url` exists; it is empty if `directory` did not exist. */
export async function openFaultCluster({ directory, settings = {}, log, signal }) {
  const start = (port) =>
    startEmbeddedDatabase({ directory, port, settings: { ...FAULT_SETTINGS, ...settings }, log, signal });
  let server = await start();
  const { url, port } = server;
  const serverPid = () => findPostmaster(resolveDataDirectory(directory))?.identity.pid;
  const query = (databaseUrl, text) =>
    withClient(databaseUrl, async (client) => (await client.query(text)).rows);
  let paused = [];
  return {
    url,
    query,
    /** A database with every migration of the repository. */
    createDatabase: (name) => createDatabase(url, name),
    migrate: (databaseUrl) => migrate({ databaseUrl, log: () => undefined, signal }),
    /** The server process dies; the others notice, and end. */
    kill: () => serverPid() && sendSignal(serverPid(), 'SIGKILL'),
    /** All of its processes die at once, as by a power cut. */
    crash() {
      for (const pid of family(serverPid())) sendSignal(pid, 'SIGKILL');
    },
    /** Immediate shutdown: no checkpoint, every session is cut. */
    stopAtOnce: () => serverPid() && sendSignal(serverPid(), 'SIGQUIT'),
    async restart() {
      // The next start must not begin before resources of an earlier one are released.
      await server.stop();
      const begunAt = Date.now();
      for (;;) {
        try {
          server = await start(port);
          return;
        } catch (error) {
          if (Date.now() - begunAt > TIMEOUT_MS) throw error;
          await sleep(250, signal);
        }
      }
    },
    pause() {
      paused = family(serverPid());
      for (const pid of paused) sendSignal(pid, 'SIGSTOP');
    },
    resume() {
      for (const pid of paused.splice(0)) sendSignal(pid, 'SIGCONT');
    },
    async exhaustConnections(databaseUrl) {
      const name = new URL(databaseUrl).pathname.slice(1);
      const taken = [];
      const ending = new AbortController();
      const admin = await connect(url);
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      // A client that reconnects in between loses its connection a moment later.
      const keepTaking = (async () => {
        while (!ending.signal.aborted) {
          const client = await connect(url).catch(() => undefined);
          if (client) taken.push(client);
          else await sleep(20, signal);
        }
      })();
      return async () => {
        ending.abort();
        await keepTaking;
        await Promise.all([admin, ...taken].map((client) => client.end()));
      };
    },
    async close() {
      for (const pid of paused.splice(0)) sendSignal(pid, 'SIGCONT');
      await server.destroy();
    },
  };
}
