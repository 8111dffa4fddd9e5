// How much this process takes on at once: calls under way, and the bytes that they hold. What does not fit is refused
// before its body is read, so that what was let in is served as if the rest had never come.
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
 * Calls to models, everything else, and what needs no credential: each has a share of its own, so that operators can act
 * under load, and callers without a key are in the way of nobody who has one. Metrics are none of these: they are read
 * when the others are full.
 */
export type TrafficClass = 'calls' | 'operations' | 'public' | 'metrics';

/** The account that a request was let in as; null where there is none. */
export type FindAccount = (request: object) => string | null;

// Milliseconds between looks at how late the event loop is.
const LOOK = 20;
// Calls that may be under way however late the loop is: enough to keep the processor busy while one waits.
const FLOOR = 4;
// What operations, and requests without a credential, may have under way beside the calls, and at least.
const OPERATIONS = 1 / 8;
const LEAST_OPERATIONS = 16;
// Answers of /metrics that are not read yet: far more than there are readers.
const METRICS = 64;
// Milliseconds between log lines about refusals.
const SILENCE = 10_000;
const DETAILS: Readonly<Record<ExhaustedResource, string>> = {
  calls: 'as many calls as can be served are under way',
  bytes: 'the calls under way hold as many bytes as they may',
};

@Injectable()
export class LoadShedder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(LoadShedder.name);
  private readonly limits: Readonly<Record<TrafficClass, InFlightLimit>>;
  private readonly rejected;
  private readonly limit: LoadLimit;
  private timer: NodeJS.Timeout | null = null;
  private unreported = 0;
  private reportedAt = -Infinity;
  private findAccount: FindAccount = () => null;

  constructor(
    { loadShedding }: AppConfig,
    { registry }: Metrics,
    private readonly yieldQueue: YieldQueue,
  ) {
    const { callsInFlight, bytesInFlight, eventLoopDelay } = loadShedding;
    this.limit = new LoadLimit({
      ceiling: callsInFlight,
      floor: Math.min(callsInFlight, FLOOR),
      toleratedDelay: eventLoopDelay,
    });
    const operations = Math.max(LEAST_OPERATIONS, Math.floor(callsInFlight * OPERATIONS));
    const rejecting = (group: TrafficClass) => (reason: ExhaustedResource) => this.reject(group, reason);
    this.limits = {
      calls: new InFlightLimit(() => this.limit.current, bytesInFlight, rejecting('calls')),
      operations: new InFlightLimit(() => operations, bytesInFlight * OPERATIONS, rejecting('operations')),
      metrics: new InFlightLimit(() => METRICS, bytesInFlight, rejecting('metrics')),
      public: new InFlightLimit(() => operations, bytesInFlight * OPERATIONS, rejecting('public')),
    };
    this.rejected = new Counter({
      name: 'signalbox_http_refused_total',
      help: 'Requests that were refused with 503 because this process had enough to do, by what there was enough of.',
      labelNames: ['group', 'reason'],
      registers: [registry],
    });
    this.addGauge(registry, 'signalbox_http_in_flight', 'Requests under way.', 'calls');
    this.addGauge(registry, 'signalbox_http_in_flight_bytes', 'Bytes that they are known to hold.', 'bytes');
    const { limit } = this;
    void new Gauge({
      name: 'signalbox_http_in_flight_limit',
      help: 'Calls to models that may be under way, as long as the event loop is as late as it is.',
      registers: [registry],
      collect() {
        this.set(limit.current);
      },
    });
  }

  onApplicationBootstrap(): void {
    let expectedAt = performance.now() + LOOK;
    this.timer = setInterval(() => {
      const now = performance.now();
      this.limit.note(Math.max(now - expectedAt, this.yieldQueue.delay), this.limits.calls.calls);
      expectedAt = now + LOOK;
    }, LOOK);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** `announced` is the body's length; `hasCredential`: whether the account will be known. Throws `overloaded`. */
  acquire(group: TrafficClass, announced: number, hasCredential: boolean): InFlightPermit {
    return this.limits[group].acquire(announced, hasCredential);
  }

  /** Guards come from the framework, and what knows a request's account lies beside this: it is handed in once. */
  findAccountsBy(find: FindAccount): void {
    this.findAccount = find;
  }

  /** Counts the request as its account's. Throws `overloaded` when that holds its share already. */
  assign(permit: InFlightPermit, request: object): void {
    const accountId = this.accountOf(request);
    if (accountId !== null) permit.assign(accountId);
  }

  /** Null before the caller is known, and on public routes. */
  accountOf(request: object): string | null {
    return this.findAccount(request);
  }

  /** Resolves when no call is under way, those included whose caller has left. */
  whenIdle(): Promise<void> {
    return this.limits.calls.whenIdle();
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

  /** One line for many: under overload a line for each would be part of the load. */
  private reject(group: TrafficClass, reason: ExhaustedResource): AppError {
    this.rejected.inc({ group, reason });
    this.unreported++;
    const now = performance.now();
    if (now - this.reportedAt >= SILENCE) {
      this.logger.warn({ group, reason, count: this.unreported }, 'refused requests: overloaded');
      this.reportedAt = now;
      this.unreported = 0;
    }
    return new AppError('overloaded', { detail: DETAILS[reason], headers: { 'Retry-After': '1' } });
  }
}
