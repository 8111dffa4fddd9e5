// Load shedding: limits the requests in flight and the bytes that they hold. Requests beyond the limit are rejected before
// their body is read, so that admitted requests keep their latency.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { Metrics } from '../../config/metrics.js';
import { AppError } from '../../domain/errors.js';
import { InFlightLimit } from './in-flight-limit.js';
import type { ExhaustedResource, InFlightPermit } from './in-flight-limit.js';
import { LoadLimit } from './load-limit.js';

/**
 * Calls to models, other operations, and public routes have separate limits, so that operators can act under load, and
 * callers without a key cannot displace callers with one. Metrics have their own: they are read when the others are full.
 */
export type TrafficClass = 'calls' | 'chats' | 'operations' | 'public' | 'metrics';

/** The account of an authenticated request; null without one. */
export type FindAccount = (request: object) => string | null;

// Milliseconds between samples of the event loop delay.
const SAMPLE_INTERVAL = 20;
// Calls in flight that any delay permits: enough to keep the processor busy while one waits.
const FLOOR = 4;
// The limits of operations and of public requests, as a fraction of that of calls, and their minimum.
const OPERATIONS = 1 / 8;
const LEAST_OPERATIONS = 16;
// Responses of /metrics in flight: far more than there are readers.
const METRICS = 64;
// The part of the tolerated delay beyond which new chats are rejected.
const CHAT_TOLERANCE = 1 / 2;
// Milliseconds between log lines about rejections.
const REPORT_INTERVAL = 10_000;
const DETAILS: Readonly<Record<ExhaustedResource, string>> = {
  calls: 'too many requests in flight; retry shortly',
  bytes: 'the requests in flight hold too many bytes; retry shortly',
};

@Injectable()
export class LoadShedder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(LoadShedder.name);
  private readonly limits: Readonly<Record<TrafficClass, InFlightLimit>>;
  private readonly rejected;
  private readonly limit: LoadLimit;
  /** Long streams must not starve other calls, and new chats are rejected before other calls. */
  private readonly chatLimit: LoadLimit;
  private timer: NodeJS.Timeout | null = null;
  private unreported = 0;
  private reportedAt = -Infinity;
  private findAccount: FindAccount = () => null;

  constructor(
    { loadShedding }: AppConfig,
    { registry }: Metrics,
    private readonly yieldQueue: YieldQueue,
  ) {
    const { callsInFlight, chatsInFlight, bytesInFlight, eventLoopDelay } = loadShedding;
    this.limit = new LoadLimit({
      ceiling: callsInFlight,
      floor: Math.min(callsInFlight, FLOOR),
      toleratedDelay: eventLoopDelay,
    });
    this.chatLimit = new LoadLimit({
      ceiling: chatsInFlight,
      floor: Math.min(chatsInFlight, FLOOR),
      toleratedDelay: eventLoopDelay * CHAT_TOLERANCE,
    });
    const operations = Math.max(LEAST_OPERATIONS, Math.floor(callsInFlight * OPERATIONS));
    const rejecting = (group: TrafficClass) => (reason: ExhaustedResource) => this.reject(group, reason);
    this.limits = {
      calls: new InFlightLimit(() => this.limit.current, bytesInFlight, rejecting('calls')),
      chats: new InFlightLimit(() => this.chatLimit.current, bytesInFlight, rejecting('chats')),
      operations: new InFlightLimit(() => operations, bytesInFlight * OPERATIONS, rejecting('operations')),
      metrics: new InFlightLimit(() => METRICS, bytesInFlight, rejecting('metrics')),
      public: new InFlightLimit(() => operations, bytesInFlight * OPERATIONS, rejecting('public')),
    };
    this.rejected = new Counter({
      name: 'signalbox_http_refused_total',
      help: 'Requests rejected with 503 by load shedding, by exhausted resource.',
      labelNames: ['group', 'reason'],
      registers: [registry],
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const group of Object.keys(this.limits))
      for (const reason of Object.keys(DETAILS)) this.rejected.inc({ group, reason }, 0);
    this.addGauge(registry, 'signalbox_http_in_flight', 'Requests in flight.', 'calls');
    this.addGauge(registry, 'signalbox_http_in_flight_bytes', 'Bytes held by requests in flight.', 'bytes');
    const { limit } = this;
    void new Gauge({
      name: 'signalbox_http_in_flight_limit',
      help: 'Current limit of model calls in flight, which falls while the event loop is late.',
      registers: [registry],
      collect() {
        this.set(limit.current);
      },
    });
  }

  onApplicationBootstrap(): void {
    let expectedAt = performance.now() + SAMPLE_INTERVAL;
    this.timer = setInterval(() => {
      const now = performance.now();
      const delay = Math.max(now - expectedAt, this.yieldQueue.delay);
      this.limit.note(now, delay, this.limits.calls);
      this.chatLimit.note(now, delay, this.limits.chats);
      expectedAt = now + SAMPLE_INTERVAL;
    }, SAMPLE_INTERVAL);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** `announced` is the body's length; `hasCredential`: whether the account will be known. Throws `overloaded`. */
  acquire(group: TrafficClass, announced: number, hasCredential: boolean): InFlightPermit {
    return this.limits[group].acquire(announced, hasCredential);
  }

  /** Sets how to find the account of a request: auth/ is in the same layer, so this cannot import it. */
  findAccountsBy(find: FindAccount): void {
    this.findAccount = find;
  }

  /** Counts the request for its account. Throws `overloaded` when the account is at its limit. */
  assign(permit: InFlightPermit, request: object): void {
    const accountId = this.accountOf(request);
    if (accountId !== null) permit.assign(accountId);
  }

  /** Null before the caller is known, and on public routes. */
  accountOf(request: object): string | null {
    return this.findAccount(request);
  }

  /** Resolves when no call is in flight, including calls of disconnected callers. */
  async whenIdle(): Promise<void> {
    await Promise.all([this.limits.calls.whenIdle(), this.whenChatsIdle()]);
  }

  /** Resolves when every chat has been recorded and answered. */
  whenChatsIdle(): Promise<void> {
    return this.limits.chats.whenIdle();
  }

  private addGauge(registry: Metrics['registry'], name: string, help: string, of: 'calls' | 'bytes'): void {
    const { limits } = this;
    void new Gauge({
      name,
      help,
      labelNames: ['group'],
      registers: [registry],
      collect() {
        for (const [group, limit] of Object.entries(limits)) {
          // The request that reads the metrics would always be one of them.
          if (group !== 'metrics') this.set({ group }, limit[of]);
        }
      },
    });
  }

  /** Logs one line for many rejections: under overload a line for each would add to the load. */
  private reject(group: TrafficClass, reason: ExhaustedResource): AppError {
    this.rejected.inc({ group, reason });
    this.unreported++;
    const now = performance.now();
    if (now - this.reportedAt >= REPORT_INTERVAL) {
      this.logger.warn({ group, reason, count: this.unreported }, 'rejected requests: overloaded');
      this.reportedAt = now;
      this.unreported = 0;
    }
    return new AppError('overloaded', { detail: DETAILS[reason], headers: { 'Retry-After': '1' } });
  }
}
