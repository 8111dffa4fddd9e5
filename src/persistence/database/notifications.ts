// Notifications of the database to every replica (LISTEN/NOTIFY), over one connection that is replaced when it is
// lost.
import { randomInt } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { withTimeout } from '../../concurrency/with-timeout.js';
import { AppConfig } from '../../config/app-config.js';
import { ConfigError } from '../../config/environment-reader.js';
import { SynchronizedClock } from '../../domain/clock.js';
import type { DatabaseClient } from '../connections/database-client.js';
import { requireSessions } from '../connections/transaction-pooling.js';
import { Database } from './database.js';
import { HOLD_SESSION } from './sessions.js';

export interface NotificationListener {
  /** The channel of the migrations' triggers. */
  readonly channel: string;
  onNotification(payload: string): void;
  /** Notifications may be missed until onConnected. */
  onDisconnected?(): void;
  onConnected?(): void;
}

// Milliseconds between attempts to reconnect.
const RECONNECT_DELAY = 250;
// Milliseconds between heartbeats.
const HEARTBEAT = 500;
// Milliseconds from sending a heartbeat for which its response is valid: by then every earlier commit is known. A
// revoked key and a lowered limit take effect everywhere within 2 s, even when a connection dies silently.
const CONFIDENCE = 1_800;
// Milliseconds after which an unresponsive connection is replaced. Longer than CONFIDENCE: a process that was
// suspended for a moment finds the response, and every notification with it.
const RESPONSE_TIMEOUT = 5_000;
// The response also carries the time of the service (docs/decisions/0003-spend.md).
const HEARTBEAT_STATEMENT = 'SELECT service_now() AS now';

@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  /** The number of this process's lock, which it keeps while its connection is replaced. */
  readonly lock = randomInt(1, 2 ** 31 - 1);
  private readonly logger = new Logger(Notifications.name);
  private readonly listeners: NotificationListener[] = [];
  private client: DatabaseClient | null = null;
  private reconnectTimer: NodeJS.Timeout | null = null;
  private heartbeatTimer: NodeJS.Timeout | null = null;
  private isListening = false;
  /** performance.now() until which all changes are known that were committed CONFIDENCE ago or earlier. */
  private trustedUntil = -Infinity;
  /** Heartbeats have been unanswered for CONFIDENCE: no others are sent. */
  private isSilent = false;
  private isStopped = false;
  private confirmation: Promise<void> = Promise.resolve();
  private nextConfirmation: Promise<void> | null = null;

  constructor(
    private readonly config: AppConfig,
    private readonly database: Database,
    private readonly clock: SynchronizedClock,
  ) {
    database.afterChanges(() => this.catchUp());
  }

  /** Whether notifications arrive: caches that depend on them may be used without a query. */
  get isTrusted(): boolean {
    return this.isListening && performance.now() < this.trustedUntil;
  }

  /**
   * The number by which others see that this process lives; null while its connection is not open. They would take leases
   * with a number that has no lock from each other as often as they look for work.
   */
  get session(): number | null {
    return this.isListening ? this.lock : null;
  }

  /** Notifies every replica, this one included. */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    await this.database.query({
      name: 'notify',
      text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
      values: [channel, [...payloads]],
    });
  }

  /**
   * Resolves when this process has received the notifications of all earlier commits, or no longer trusts its caches.
   * Resolves at once while it is not connected.
   */
  catchUp(): Promise<void> {
    // A query that has not begun yet serves all callers until then.
    this.nextConfirmation ??= this.confirmation.then(() => {
      this.nextConfirmation = null;
      this.confirmation = this.confirmTrust();
      return this.confirmation;
    });
    return this.nextConfirmation;
  }

  /** PostgreSQL sends a session its notifications before it reports the end of the session's statement. */
  private async confirmTrust(): Promise<void> {
    const { client } = this;
    if (!client || !this.isListening) return;
    // Another server may have been promoted since the last heartbeat.
    if (this.isSilent) return client.suspectServer();
    const answered = this.heartbeat(client);
    await withTimeout(answered, CONFIDENCE, () => {
      this.isSilent = true;
      client.suspectServer();
      void answered.finally(() => {
        this.isSilent = false;
      });
    });
  }

  /** Never fails: an unresponsive connection is replaced. */
  private async heartbeat(client: DatabaseClient): Promise<void> {
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

  /** Call it before the application has started. */
  subscribe(listener: NotificationListener): void {
    this.listeners.push(listener);
  }

  /** Refuses to start where notifications would never arrive. */
  async onApplicationBootstrap(): Promise<void> {
    await this.connect((error) => {
      if (error instanceof ConfigError) throw error;
    });
    // No RepeatedTask: confidence ends so long after a heartbeat was sent, however long its response takes. Heartbeats do
    // not pile up, because calls of catchUp() share them.
    this.heartbeatTimer = setInterval(() => void this.catchUp(), HEARTBEAT);
    this.heartbeatTimer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    this.isListening = false;
    if (this.heartbeatTimer) clearInterval(this.heartbeatTimer);
    if (this.reconnectTimer) clearTimeout(this.reconnectTimer);
    await this.client?.end().catch(() => undefined);
  }

  private async connect(onError: (error: unknown) => void = () => undefined): Promise<void> {
    const client = this.database.createSession({
      application_name: 'signalbox notifications',
      connectionTimeoutMillis: RESPONSE_TIMEOUT,
      query_timeout: RESPONSE_TIMEOUT,
      keepAliveInitialDelayMillis: RESPONSE_TIMEOUT,
    });
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.listeners)
        if (listener.channel === channel) listener.onNotification(payload ?? '');
    });
    client.on('end', () => this.reconnectLater(client));
    this.client = client;
    try {
      await client.connect();
      if (this.isStopped) return await client.end();
      // The address may lead elsewhere than at the start.
      if (client.isPooled) await requireSessions(this.config);
      await client.query(HOLD_SESSION, [this.lock]);
      for (const channel of new Set(this.listeners.map((listener) => listener.channel)))
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      await this.heartbeat(client);
      if (client !== this.client) return;
      this.isListening = true;
      for (const listener of this.listeners) listener.onConnected?.();
    } catch (error) {
      if (error instanceof ConfigError) this.logger.error(error.message);
      // Closing it emits `end`, if it was open at all.
      await client.end().catch(() => undefined);
      this.reconnectLater(client);
      onError(error);
    }
  }

  private reconnectLater(client: DatabaseClient): void {
    if (client !== this.client || this.isStopped) return;
    this.client = null;
    this.isListening = false;
    this.isSilent = false;
    for (const listener of this.listeners) listener.onDisconnected?.();
    this.reconnectTimer = setTimeout(() => void this.connect(), RECONNECT_DELAY);
  }
}
