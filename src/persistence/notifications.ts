// What the database tells every replica (LISTEN/NOTIFY), over one connection that is made anew when it is lost.
import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { AppConfig } from '../config/app-config.js';
import { Database } from './database.js';
import { HOLD_SESSION } from './sessions.js';

export interface NotificationListener {
  /** The channel of the migrations' triggers. */
  readonly channel: string;
  onNotification(payload: string): void;
  /** From now on notifications may be missed, until onConnected. */
  onDisconnected?(): void;
  onConnected?(): void;
}

// Milliseconds between attempts to come back.
const RECONNECT_DELAY = 250;
// Milliseconds. A connection that died without a word is found out by asking something over it.
const HEARTBEAT = 5_000;

@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  /** By this others see whether the process still lives. */
  readonly session = randomInt(1, 2 ** 31 - 1);
  private readonly listeners: NotificationListener[] = [];
  private client: pg.Client | null = null;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private heartbeatTimer: NodeJS.Timeout | null = null;
  private isListening = false;
  private isStopped = false;
  private asking: Promise<void> = Promise.resolve();
  private nextAsking: Promise<void> | null = null;

  constructor(
    private readonly config: AppConfig,
    private readonly database: Database,
  ) {
    database.afterChanges(() => this.catchUp());
  }

  /** Tells every replica, this one included. */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    await this.database.query({
      name: 'notify',
      text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
      values: [channel, [...payloads]],
    });
  }

  /** Resolves when this process has been told of all that was committed before; at once while it cannot be told. */
  catchUp(): Promise<void> {
    // What has not begun yet serves everybody who comes until then.
    this.nextAsking ??= this.asking.then(() => {
      this.nextAsking = null;
      this.asking = this.ask();
      return this.asking;
    });
    return this.nextAsking;
  }

  /** PostgreSQL sends a session what it has to be told before it says that the session's statement is done. */
  private async ask(): Promise<void> {
    if (!this.isListening) return;
    try {
      await this.client?.query('SELECT 1');
    } catch {
      // A connection that is lost empties what listeners keep.
    }
  }

  /** To be called before the application has started. */
  subscribe(listener: NotificationListener): void {
    this.listeners.push(listener);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
    this.heartbeatTimer = setInterval(() => void this.checkAlive(), HEARTBEAT);
    this.heartbeatTimer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    if (this.heartbeatTimer) clearInterval(this.heartbeatTimer);
    if (this.reconnectTimer) clearTimeout(this.reconnectTimer);
    await this.client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.config.databaseUrl,
      application_name: 'signalbox notifications',
      connectionTimeoutMillis: HEARTBEAT,
      query_timeout: HEARTBEAT,
      keepAlive: true,
    });
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.listeners)
        if (listener.channel === channel) listener.onNotification(payload ?? '');
    });
    client.on('error', () => undefined);
    client.on('end', () => this.reconnectLater(client));
    this.client = client;
    try {
      await client.connect();
      await client.query(HOLD_SESSION, [this.session]);
      for (const channel of new Set(this.listeners.map((listener) => listener.channel)))
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      this.isListening = true;
      for (const listener of this.listeners) listener.onConnected?.();
    } catch {
      // Closing it emits `end`, when it was open at all.
      await client.end().catch(() => undefined);
      this.reconnectLater(client);
    }
  }

  private async checkAlive(): Promise<void> {
    const client = this.client;
    try {
      await client?.query('SELECT 1');
    } catch {
      if (client) this.reconnectLater(client);
      await client?.end().catch(() => undefined);
    }
  }

  private reconnectLater(client: pg.Client): void {
    if (client !== this.client || this.isStopped) return;
    this.client = null;
    this.isListening = false;
    for (const listener of this.listeners) listener.onDisconnected?.();
    this.reconnectTimer = setTimeout(() => void this.connect(), RECONNECT_DELAY);
  }
}
