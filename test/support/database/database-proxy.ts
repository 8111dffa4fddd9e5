// A connection to the database that a test can cut and repair, to simulate an unreachable PostgreSQL.
import { startTcpProxy } from '../upstreams/tcp-proxy.js';
import type { TcpProxy } from '../upstreams/tcp-proxy.js';

export interface DatabaseProxy extends Pick<TcpProxy, 'cut' | 'repair' | 'corrupt' | 'close'> {
  /** The database's address by way of the proxy. */
  readonly url: string;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  return { ...proxy, url: url.href };
}
