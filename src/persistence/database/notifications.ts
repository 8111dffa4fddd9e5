// What the database tells every replica (LISTEN/NOTIFY), over one connection that is made anew when it is lost.
import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { AppConfig } from '../../config/app-config.js';
import { SynchronizedClock } from '../../domain/clock.js';
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
// Milliseconds between heartbeats.
const HEARTBEAT = 500;
// Milliseconds after a heartbeat was sent for which its answer vouches: whatever was committed before it is known then. A
// revoked key and a lowered limit are in force everywhere within 2 s, also where a connection has died without a word.
const CONFIDENCE = 1_800;
// Milliseconds after which a connection that does not answer is replaced. Longer than the above: a process that stood
// still for a moment finds the answer waiting, and every notification with it.
const SILENCE = 5_000;
// The answer also tells the time of the service (docs/decisions/0003-spend.md).
const HEARTBEAT_STATEMENT = 'SELECT service_now() AS now';

@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  /** By this others see whether the process still lives. */
  readonly session = randomInt(1, 2 ** 31 - 1);
  private readonly listeners: NotificationListener[] = [];
  private client: pg.Client | null = null;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private heartbeatTimer: NodeJS.Timeout | null = null;
  private isListening = false;
  /** performance.now() until which every change is known that was committed CONFIDENCE ago or earlier. */
  private trustedUntil = -Infinity;
  /** Heartbeats that have not been answered for as long as one vouches: no others are sent behind them. */
  private isSilent = false;
  private isStopped = false;
  private asking: Promise<void> = Promise.resolve();
  private nextAsking: Promise<void> | null = null;

  constructor(
    private readonly config: AppConfig,
    private readonly database: Database,
    private readonly clock: SynchronizedClock,
  ) {
    database.afterChanges(() => this.catchUp());
  }

  /** Whether notifications arrive: what they keep up to date may be used without asking the database. */
  get isTrusted(): boolean {
    return this.isListening && performance.now() < this.trustedUntil;
  }

  /** Tells every replica, this one included. */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    await this.database.query({
      name: 'notify',
      text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
      values: [channel, [...payloads]],
    });
  }

  /**
   * Resolves when this process has received the notifications of all that was committed before, or when it does not trust
   * its caches: at once while it is not connected.
   */
  catchUp(): Promise<void> {
    // What has not begun yet serves everybody who comes until then.
    this.nextAsking ??= this.asking.then(() => {
      this.nextAsking = null;
      this.asking = this.ask();
      return this.asking;
    });
    return this.nextAsking;
  }

  /** PostgreSQL sends a session its notifications before it says that the session's statement is done. */
  private async ask(): Promise<void> {
    const { client } = this;
    if (!client || !this.isListening || this.isSilent) return;
    const answered = this.heartbeat(client);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), CONFIDENCE);
    });
    if ((await Promise.race([answered, timeout])) === 'silent') {
      this.isSilent = true;
      void answered.finally(() => {
        this.isSilent = false;
      });
    }
    clearTimeout(timer);
  }

  /** Never fails: a connection without an answer is replaced. */
  private async heartbeat(client: pg.Client): Promise<void> {
    const sentAt = performance.now();
    try {
      const { rows } = await client.query<{ now: Date }>(HEARTBEAT_STATEMENT);
      if (client !== this.client) return;
      const [row] = rows;
      if (row) this.clock.synchronize(row.now, sentAt);
      this.trustedUntil = sentAt + CONFIDENCE;
    } catch {
      this.reconnectLater(client);
      await client.end().catch(() => undefined);
    }
  }

  /** To be called before the application has started. */
  subscribe(listener: NotificationListener): void {
    this.listeners.push(listener);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
    this.heartbeatTimer = setInterval(() => void this.catchUp(), HEARTBEAT);
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
      connectionTimeoutMillis: SILENCE,
      query_timeout: SILENCE,
      keepAlive: true,
      keepAliveInitialDelayMillis: SILENCE,
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
      await this.heartbeat(client);
      if (client !== this.client) return;
      this.isListening = true;
      for (const listener of this.listeners) listener.onConnected?.();
    } catch {
      // Closing it emits `end`, when it was open at all.
      await client.end().catch(() => undefined);
      this.reconnectLater(client);
    }
  }

  private reconnectLater(client: pg.Client): void {
    if (client !== this.client || this.isStopped) return;
    this.client = null;
    this.isListening = false;
    this.isSilent = false;
    for (const listener of this.listeners) listener.onDisconnected?.();
    this.reconnectTimer = setTimeout(() => void this.connect(), RECONNECT_DELAY);
  }
}
