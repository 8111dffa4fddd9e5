// Finds the server of an address that the service may use. With one server there is nothing to find. With several, a
// failover moves every connection of the process to the promoted one.
import pg from 'pg';
import { describeServers, parseDatabaseAddress } from '../../domain/database-address.js';
import type { DatabaseAddress, DatabaseServer } from '../../domain/database-address.js';
import { driverOptions } from './driver-options.js';
import { isAcceptable, openSession, readTimeline } from './server-state.js';

/** An open connection to a server. */
interface OpenConnection {
  /** Closes it at once; its statements fail. */
  abandon(): void;
}

/**
 * The timeline of a server that may be used; null: it may not. Rejects for one that cannot be reached. `timeout`:
 * milliseconds for the handshake, and for each statement.
 */
export type Probe = (
  server: DatabaseServer,
  address: DatabaseAddress,
  timeout: number,
) => Promise<number | null>;

// Milliseconds. Servers are probed together. A process that gets little of a busy processor reads their answers late: after
// a search that found none in time the next one waits twice as long, or no search would ever end.
const PROBE_TIMEOUT = { base: 2_000, max: 16_000 };
// Milliseconds for which the failure of a search is valid: calls that wait for a promotion must not flood the standby.
const FAILURE_LIFETIME = 250;
// Credentials, no such database, no right to connect: another server would answer the same.
const REJECTED_STATES = /^(28|3D000|42501)/;

// The driver's message, which has no code.
const WITHOUT_TLS = /does not support SSL/;

/** No server of the address may be used. */
export class NoServer extends Error {
  constructor(
    message: string,
    /** That of all servers, or an SQLSTATE: no connection could be established. */
    readonly code = '08001',
  ) {
    super(message);
  }
}

export class ServerLocator {
  readonly address: DatabaseAddress;
  private current: DatabaseServer | null;
  private search: Promise<DatabaseServer> | null = null;
  private timeout = PROBE_TIMEOUT.base;
  private failure: { readonly error: unknown; readonly until: number } | null = null;
  /**
   * A promoted server begins a later timeline. An earlier primary that comes back has an older one; one that states none
   * (0) is used only while no server has stated one.
   */
  private timeline = 0;
  private readonly connections = new Map<OpenConnection, DatabaseServer>();
  /** Whether a pooler stands between; null: no connection has been opened yet. */
  hasPooler: boolean | null = null;
  /** The schema of the service's tables; null: no connection has been opened yet. */
  schema: string | null = null;

  constructor(
    url: string,
    private readonly probe: Probe = probeServer,
  ) {
    this.address = parseDatabaseAddress(url);
    this.current = this.isSingle ? this.first : null;
  }

  get first(): DatabaseServer {
    return this.address.servers[0];
  }

  get choice(): DatabaseAddress['choice'] {
    return this.address.choice;
  }

  private get isSingle(): boolean {
    return this.address.servers.length === 1;
  }

  /** The server to connect to. Throws NoServer while none may be used. */
  locate(): Promise<DatabaseServer> {
    if (this.current) return Promise.resolve(this.current);
    if (this.failure && performance.now() < this.failure.until) return Promise.reject(this.failure.error);
    this.search ??= this.find().finally(() => {
      this.search = null;
    });
    return this.search;
  }

  /**
   * The server has failed: it is only used again when a search finds it. A search begins at once, so that connections
   * that hang on a lost server end when another one is found.
   */
  suspect(server: DatabaseServer): void {
    if (this.isSingle) return;
    if (server === this.current) this.current = null;
    this.locate().catch(() => undefined);
  }

  opened(connection: OpenConnection, server: DatabaseServer): void {
    this.connections.set(connection, server);
  }

  closed(connection: OpenConnection): void {
    this.connections.delete(connection);
  }

  private async find(): Promise<DatabaseServer> {
    const { servers } = this.address;
    const { timeout } = this;
    const begunAt = performance.now();
    const results = await Promise.all(
      servers.map(async (server) => ({
        server,
        answer: await settle(this.probe(server, this.address, timeout)),
      })),
    );
    const isLate = performance.now() - begunAt >= timeout;
    const hasAnswer = results.some(({ answer }) => answer.value !== undefined);
    this.timeout = isLate && !hasAnswer ? Math.min(timeout * 2, PROBE_TIMEOUT.max) : PROBE_TIMEOUT.base;
    // Two servers that accept writes: the older timeline is that of a primary which was replaced and came back. Equal
    // ones: the earlier in the list, so that all processes choose the same.
    let found: { readonly server: DatabaseServer; readonly timeline: number } | null = null;
    for (const { server, answer } of results) {
      const timeline = answer.value ?? null;
      if (timeline === null || timeline < this.timeline) continue;
      if (!found || timeline > found.timeline) found = { server, timeline };
    }
    if (!found) throw this.fail(results);
    this.timeline = Math.max(this.timeline, found.timeline);
    this.failure = null;
    this.current = found.server;
    this.leaveOthers(found.server);
    return found.server;
  }

  private fail(results: readonly { readonly server: DatabaseServer; readonly answer: Settled }[]): unknown {
    const errors = results.map(({ answer }) => answer.error);
    const reasons = results.map(({ server, answer }) => {
      const reason = answer.error === undefined ? 'accepts no writes' : messageOf(answer.error);
      return `${describeServers({ servers: [server] })} ${reason}`;
    });
    const codes = errors.map(codeOf);
    const isSame = errors[0] !== undefined && codes.every((code) => code === codes[0]);
    const error =
      errors.find((each) => REJECTED_STATES.test(String(codeOf(each)))) ??
      (errors.every((each) => WITHOUT_TLS.test(messageOf(each))) ? errors[0] : undefined) ??
      new NoServer(`no server can be used: ${reasons.join('; ')}`, isSame ? codes[0] : undefined);
    this.failure = { error, until: performance.now() + FAILURE_LIFETIME };
    return error;
  }

  /** Statements on a server that is no longer the one to use would wait for their time-outs. */
  private leaveOthers(server: DatabaseServer): void {
    for (const [connection, itsServer] of this.connections) if (itsServer !== server) connection.abandon();
  }
}

interface Settled {
  readonly value?: number | null;
  readonly error?: unknown;
}

async function settle(probing: Promise<number | null>): Promise<Settled> {
  try {
    return { value: await probing };
  } catch (error) {
    return { error: error ?? new Error('unknown') };
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string } | undefined)?.code;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'cannot be reached';
}

async function probeServer(
  server: DatabaseServer,
  address: DatabaseAddress,
  timeout: number,
): Promise<number | null> {
  const client = new pg.Client({
    ...driverOptions(address, server),
    application_name: 'signalbox probe',
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (!isAcceptable(await openSession(client), address.choice)) return null;
    return await readTimeline(client);
  } finally {
    // A server that does not answer does not close either.
    void client.end().catch(() => undefined);
  }
}
