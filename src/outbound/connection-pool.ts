// Connections to any number of origins, each for one exchange at a time, kept open for a while and bounded over all of
// them. undici's own Agent bounds them by origin only, and one that is given up while it connects goes on connecting.
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import type { Connect } from './guarded-connector.js';
import type { CancelSignal } from './cancellation.js';

export interface PoolLimits {
  readonly connections: number;
  /** One slow origin must leave connections for the others. */
  readonly connectionsPerOrigin: number;
}

// Milliseconds that an idle connection stays open, whatever the other side proposes.
const KEEP_ALIVE = 30_000;

interface Waiting {
  readonly origin: string;
  take(connection: Connection): void;
}

export class ConnectionPool {
  private readonly busy = new Set<Connection>();
  /** The one that was used longest ago first. */
  private readonly idle = new Set<Connection>();
  private readonly waiting = new Set<Waiting>();

  constructor(
    private readonly connect: Connect,
    private readonly limits: PoolLimits = { connections: 1_024, connectionsPerOrigin: 128 },
  ) {}

  /** Connections open or opening. */
  get size(): number {
    return this.busy.size + this.idle.size;
  }

  /** Runs an exchange with the origin on a connection of its own, as soon as there is one. */
  async use<Result>(
    origin: string,
    signal: CancelSignal,
    work: (dispatcher: Dispatcher) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const connection = this.take(origin) ?? (await this.wait(origin, signal));
    // undici itself hears of the signal only once it is connected.
    const giveUp = (): void => this.drop(connection, signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      // It may have come while this exchange waited.
      signal.throwIfAborted();
      const result = await work(connection.client);
      this.keep(connection);
      return result;
    } catch (error) {
      // Whatever is still on its way there must not meet the next exchange.
      this.drop(connection);
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.serveWaiting();
    }
  }

  /** Lets the exchanges under way end. */
  async close(): Promise<void> {
    await Promise.all([...this.busy, ...this.idle].map(({ client }) => client.close()));
  }

  /** Null when the bounds leave none to the origin. */
  private take(origin: string): Connection | null {
    const connection = this.findIdle(origin) ?? this.open(origin);
    if (connection === null) return null;
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

  private open(origin: string): Connection | null {
    if (this.isFull || this.countBusy(origin) >= this.limits.connectionsPerOrigin) return null;
    if (this.size >= this.limits.connections) {
      const [longestIdle] = this.idle;
      if (longestIdle) this.drop(longestIdle);
    }
    const connection = new Connection(origin, this.connect, () => {
      if (!this.idle.has(connection)) return;
      this.drop(connection);
      this.serveWaiting();
    });
    return connection;
  }

  /** Whether not even an idle connection could make room. */
  private get isFull(): boolean {
    return this.busy.size >= this.limits.connections;
  }

  private countBusy(origin: string): number {
    let count = 0;
    for (const connection of this.busy) if (connection.origin === origin) count++;
    return count;
  }

  private keep(connection: Connection): void {
    if (!this.busy.delete(connection)) return;
    if (connection.isOpen) this.idle.add(connection);
    else connection.destroy();
  }

  private drop(connection: Connection, reason?: Error): void {
    if (this.busy.delete(connection) || this.idle.delete(connection)) connection.destroy(reason);
  }

  private wait(origin: string, signal: CancelSignal): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        origin,
        take: (connection) => {
          signal.removeEventListener('abort', giveUp);
          resolve(connection);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiting.add(waiting);
    });
  }

  /** In the order in which they came, except that an origin at its bound holds up nobody else. */
  private serveWaiting(): void {
    const full = new Set<string>();
    for (const waiting of this.waiting) {
      if (this.isFull) return;
      if (full.has(waiting.origin)) continue;
      const connection = this.take(waiting.origin);
      if (connection === null) {
        full.add(waiting.origin);
        continue;
      }
      this.waiting.delete(waiting);
      waiting.take(connection);
    }
  }
}

class Connection {
  readonly client: Client;
  isOpen = true;
  private socket: Socket | null = null;

  constructor(
    readonly origin: string,
    connect: Connect,
    onClosed: () => void,
  ) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.socket = connect(target, callback);
      },
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      // The signal of each exchange bounds them.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      this.isOpen = false;
      onClosed();
    });
  }

  /** The socket too, which the client would let go on connecting. */
  destroy(reason?: Error): void {
    this.socket?.destroy();
    void this.client.destroy(reason ?? null);
  }
}
