// One connection to the server of an address that the service may use.
import { callbackify } from 'node:util';
import { isIP } from 'node:net';
import pg from 'pg';
import type { DatabaseServer } from '../../domain/database-address.js';
import { driverOptions } from './driver-options.js';
import { ServerLocator } from './server-locator.js';
import { isAcceptable, openSession } from './server-state.js';
import type { ServerState } from './server-state.js';

// Read-only standby; server shutting down, crashing or starting. The server that answers so is no longer the primary.
const DEMOTED_STATES = new Set(['25006', '57P01', '57P02', '57P03']);

const DEFAULT_PORT = 5432;

/** The driver's callback: an error, or null. */
type Connected = (error: Error | null) => void;

export class DatabaseClient extends pg.Client {
  /** Members of the driver that its types leave out. */
  declare readonly connection: pg.Connection;
  declare readonly processID: number | null;
  private server: DatabaseServer | null = null;
  /** Of the server, when the connection was opened. */
  state: ServerState | null = null;
  /** Whether statements are run by another process than the one of the handshake: a pooler stands between. */
  isPooled = false;

  constructor(
    private readonly servers: ServerLocator,
    options: pg.ClientConfig,
    /** Milliseconds after which the server ends a statement; absent: never. */
    private readonly statementTimeout?: number,
  ) {
    super({ ...options, ...driverOptions(servers.address, servers.first) });
    // Without a listener a lost connection would end the process; its statements report the loss.
    this.on('error', () => this.suspectServer());
    this.on('end', () => servers.closed(this));
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === undefined || !DEMOTED_STATES.has(code)) return;
      this.suspectServer();
      // A pool does not keep an ended connection. Its statement has already received the error.
      void this.end().catch(() => undefined);
    });
  }

  override connect(): Promise<this>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<this> | void {
    if (!callback) return this.open();
    callbackify(() => this.open())((error) => callback(error));
  }

  /** The server does not answer: others are probed, and this connection is closed when one of them is to be used. */
  suspectServer(): void {
    if (this.server) this.servers.suspect(this.server);
  }

  abandon(): void {
    this.connection.stream.destroy();
  }

  private async open(): Promise<this> {
    const server = await this.servers.locate();
    this.server = server;
    if (server !== this.servers.first) {
      this.host = server.host;
      this.port = server.port ?? DEFAULT_PORT;
    }
    this.servers.opened(this, server);
    try {
      await this.handshake(server);
      const { schema } = this.servers.address;
      const state = await openSession(this, { schema, statementTimeout: this.statementTimeout });
      if (!isAcceptable(state, this.servers.choice)) throw new ReadOnlyServer();
      this.state = state;
      this.servers.schema = state.schema;
      this.isPooled = state.processId !== this.processID;
      this.servers.hasPooler = this.isPooled || this.servers.hasPooler === true;
      return this;
    } catch (error) {
      this.suspectServer();
      this.servers.closed(this);
      void this.end().catch(() => undefined);
      throw error;
    }
  }

  /** A name whose resolver does not answer is reported as such, not as a server that does not. */
  private async handshake({ host }: DatabaseServer): Promise<void> {
    let isResolved = host === '' || host.startsWith('/') || isIP(host) !== 0;
    this.connection.stream.once('lookup', () => {
      isResolved = true;
    });
    try {
      await super.connect();
    } catch (error) {
      if (isResolved || !/timeout/.test((error as Error).message)) throw error;
      throw Object.assign(new Error(`the name ${host} was not resolved in time`), { code: 'EAI_AGAIN' });
    }
  }
}

class ReadOnlyServer extends Error {
  /** SQLSTATE: read-only transaction. */
  readonly code = '25006';
  override readonly message = 'the server accepts no writes';
}

/** The class of a pool's connections, and of those of scripts. */
export function clientClassOf(
  address: ServerLocator | string,
  statementTimeout?: number,
): new (options?: pg.ClientConfig) => DatabaseClient {
  const servers = typeof address === 'string' ? new ServerLocator(address) : address;
  return class extends DatabaseClient {
    constructor(options: pg.ClientConfig = {}) {
      super(servers, options, statementTimeout);
    }
  };
}
