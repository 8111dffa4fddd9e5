// A pool of connections to any number of origins, each for one exchange at a time, bounded in total and shared fairly
// between accounts. undici's Agent bounds connections by origin only, and keeps connecting after a cancellation.
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import { Semaphore } from '../../concurrency/semaphore.js';
import type { Permit } from '../../concurrency/semaphore.js';
import { boundReads } from '../exchange/bounded-reads.js';
import { fairLimits } from './fair-limits.js';
import type { Connect } from './guarded-connector.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';

export interface PoolLimits {
  readonly connections: number;
  /** A slow origin must leave connections for the others. */
  readonly connectionsPerOrigin: number;
}

// Milliseconds that an idle connection stays open, regardless of the other side's proposal.
const KEEP_ALIVE = 30_000;

export class ConnectionPool {
  private readonly busy = new Set<Connection>();
  /** Least recently used first. */
  private readonly idle = new Set<Connection>();
  private readonly permits: Semaphore;
  /** Only origins with an acquired permit or a waiting request have a semaphore. */
  private readonly permitsByOrigin = new Map<string, Semaphore>();

  constructor(
    private readonly connect: Connect,
    private readonly limits: PoolLimits = { connections: 1_024, connectionsPerOrigin: 128 },
  ) {
    this.permits = new Semaphore(fairLimits(limits.connections));
  }

  /** Open connections and those that connect. */
  get size(): number {
    return this.busy.size + this.idle.size;
  }

  /**
   * Waits until the account may use one more connection to the origin. It acquires the origin's permit first: an
   * exchange that waits for a busy origin takes no connection from others.
   */
  async acquire(origin: string, account: string, signal?: CancelSignal): Promise<Permit> {
    const permits =
      this.permitsByOrigin.get(origin) ?? new Semaphore(fairLimits(this.limits.connectionsPerOrigin));
    this.permitsByOrigin.set(origin, permits);
    let ofOrigin: Permit | null = null;
    const releaseOrigin = (): void => {
      ofOrigin?.release();
      if (permits.keyCount === 0 && this.permitsByOrigin.get(origin) === permits)
        this.permitsByOrigin.delete(origin);
    };
    try {
      ofOrigin = await permits.acquire(account, { signal });
      const ofAll = await this.permits.acquire(account, { signal });
      return {
        release: () => {
          ofAll.release();
          releaseOrigin();
        },
      };
    } catch (error) {
      releaseOrigin();
      throw error;
    }
  }

  /**
   * Runs an exchange with the origin on its own connection, for the account whose permit of the origin the caller holds.
   */
  async use<Result>(
    origin: string,
    signal: CancelSignal,
    work: (dispatcher: Dispatcher) => Promise<Result>,
    account = '',
  ): Promise<Result> {
    signal.throwIfAborted();
    const connection = this.take(origin);
    connection.account = account;
    // undici itself observes the signal only once it is connected.
    const giveUp = (): void => this.drop(connection, signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const result = await work(connection.client);
      this.keep(connection);
      return result;
    } catch (error) {
      // Late bytes on this connection must not reach the next exchange.
      this.drop(connection);
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Waits for the exchanges in flight. */
  async close(): Promise<void> {
    await Promise.all([...this.busy, ...this.idle].map(({ client }) => client.close()));
  }

  private take(origin: string): Connection {
    const connection = this.findIdle(origin) ?? this.open(origin);
    this.idle.delete(connection);
    this.busy.add(connection);
    return connection;
  }

  private findIdle(origin: string): Connection | null {
    for (const connection of this.idle) {
      if (connection.origin === origin) return connection;
    }
    return null;
  }

  private open(origin: string): Connection {
    if (this.size >= this.limits.connections) {
      const [longestIdle] = this.idle;
      if (longestIdle) this.drop(longestIdle);
    }
    const connection = new Connection(origin, this.connect, () => {
      if (this.idle.has(connection)) this.drop(connection);
    });
    return connection;
  }

  private keep(connection: Connection): void {
    if (!this.busy.delete(connection)) return;
    if (connection.isOpen) this.idle.add(connection);
    else connection.destroy();
  }

  private drop(connection: Connection, reason?: Error): void {
    if (this.busy.delete(connection) || this.idle.delete(connection)) connection.destroy(reason);
  }
}

class Connection {
  readonly client: Client;
  isOpen = true;
  /** The account of the exchange. */
  account = '';
  private socket: Socket | null = null;

  constructor(
    readonly origin: string,
    connect: Connect,
    onClosed: () => void,
  ) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        const report: typeof callback = (...result) => {
          // A tunnel has its socket only now.
          if (result[1]) this.use(result[1]);
          callback(...result);
        };
        this.socket = connect(target, report, this.account);
        if (this.socket) boundReads(this.socket);
      },
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      // The signal of each exchange bounds it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      this.isOpen = false;
      onClosed();
    });
  }

  private use(socket: Socket): void {
    if (this.socket === socket) return;
    this.socket = socket;
    boundReads(socket);
  }

  /** Destroys the socket as well, because the client would continue to connect. */
  destroy(reason?: Error): void {
    this.socket?.destroy();
    void this.client.destroy(reason ?? null);
  }
}
