// What the database tells every replica (LISTEN/NOTIFY), over one connection that is made anew when it is lost.
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { AppConfig } from '../config/app-config.js';

export interface NotificationListener {
  /** The channel of the migrations' triggers. */
  readonly channel: string;
  onNotification(payload: string): void;
  /** From now on notifications may be missed, until onConnected. */
  onDisconnected(): void;
  onConnected(): void;
}

// Milliseconds between attempts to come back.
const RECONNECT_DELAY = 250;
// Milliseconds. A connection that died without a word is found out by asking something over it.
const HEARTBEAT = 5_000;

@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners = new Map<string, NotificationListener>();
  private client: pg.Client | null = null;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private heartbeatTimer: NodeJS.Timeout | null = null;
  private isStopped = false;

  constructor(private readonly config: AppConfig) {}

  /** To be called before the application has started. */
  subscribe(listener: NotificationListener): void {
    this.listeners.set(listener.channel, listener);
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
      this.listeners.get(channel)?.onNotification(payload ?? '');
    });
    client.on('error', () => undefined);
    client.on('end', () => this.reconnectLater(client));
    this.client = client;
    try {
      await client.connect();
      for (const channel of this.listeners.keys())
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      for (const listener of this.listeners.values()) listener.onConnected();
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
    for (const listener of this.listeners.values()) listener.onDisconnected();
    this.reconnectTimer = setTimeout(() => void this.connect(), RECONNECT_DELAY);
  }
}
