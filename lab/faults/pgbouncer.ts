// PgBouncer in transaction mode before the databases of a server, as a process that can be killed and started again.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface PgBouncer {
  /** The address of a database by way of it. */
  addressOf(databaseUrl: string): string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

const BETWEEN_LOOKS_MS = 20;
const START_TIMEOUT_MS = 10_000;

export const isPgBouncerInstalled = (): boolean => spawnSync('pgbouncer', ['--version']).status === 0;

export async function startPgBouncer(serverUrl: string, directory: string): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const port = await findFreePort();
  const users = join(directory, 'pgbouncer-users.txt');
  const settings = join(directory, 'pgbouncer.ini');
  await writeFile(users, `"${username}" "${password}"\n`, { mode: 0o644 });
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
`,
    { mode: 0o644 },
  );
  let running: ChildProcess | null = null;
  const bouncer = {
    addressOf: (databaseUrl: string) => {
      const url = new URL(databaseUrl);
      url.port = String(port);
      return url.href;
    },
    kill: async () => {
      const child = running;
      running = null;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    start: async () => {
      // It refuses to run as root; Debian's package runs it as this account.
      const account = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
      const child = spawn('pgbouncer', [...account, settings], { stdio: ['ignore', 'ignore', 'pipe'] });
      running = child;
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-2_000);
      });
      const deadline = performance.now() + START_TIMEOUT_MS;
      while (!(await isListening(port))) {
        if (child.exitCode !== null || performance.now() > deadline)
          throw new Error(`PgBouncer does not listen: ${said}`);
        await pause(BETWEEN_LOOKS_MS);
      }
    },
  };
  await bouncer.start();
  return bouncer;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
