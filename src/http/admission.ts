// How much this process takes on at once: calls under way, and the bytes that they hold. What does not fit is refused
// before its body is read, so that what was let in is served as if the rest had never come.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../config/metrics.js';
import { AppError } from '../domain/errors.js';
import { LoadLimit } from './load-limit.js';

/** Calls to models, and everything else: the second has a share of its own, so that operators can act under load. */
export type AdmissionGroup = 'calls' | 'operations';

type Refusal = 'calls' | 'bytes';

// Milliseconds between looks at how late the event loop is.
const LOOK = 20;
// Calls that may be under way however late the loop is: enough to keep the processor busy while one waits.
const FLOOR = 4;
// What operations may have under way beside the calls, and at least.
const OPERATIONS = 1 / 8;
const LEAST_OPERATIONS = 16;
// Milliseconds between log lines about refusals.
const SILENCE = 10_000;
const DETAILS: Readonly<Record<Refusal, string>> = {
  calls: 'as many calls as can be served are under way',
  bytes: 'the calls under way hold as many bytes as they may',
};

/** What a request holds until its answer has left and its work has ended, whichever is later. Given back, it is empty. */
export class Ticket {
  private holds = 1;
  private bytes = 0;

  constructor(private readonly share: Share) {}

  /** Its caller has left before the work had begun. */
  get isGivenBack(): boolean {
    return this.holds === 0;
  }

  /** The work may outlive the connection of its caller; work that begins only afterwards is a call of its own. */
  hold(): void {
    if (this.holds++ === 0) this.share.calls++;
  }

  release(): void {
    if (--this.holds > 0) return;
    const { bytes } = this;
    this.bytes = 0;
    this.share.takeBack(bytes);
  }

  /** What really came, in place of what was announced. */
  setBytes(bytes: number): void {
    // Nobody would ever give them back.
    if (this.isGivenBack) return;
    this.share.bytes += bytes - this.bytes;
    this.bytes = bytes;
  }

  /** Throws `overloaded` when so many more bytes do not fit. */
  takeBytes(bytes: number): void {
    if (this.isGivenBack) return;
    if (!this.share.fits(bytes, this.bytes)) throw this.share.refuse('bytes');
    this.share.bytes += bytes;
    this.bytes += bytes;
  }
}

class Share {
  calls = 0;
  bytes = 0;
  private readonly onIdle: (() => void)[] = [];

  constructor(
    private readonly maxCalls: () => number,
    private readonly maxBytes: number,
    readonly refuse: (reason: Refusal) => AppError,
  ) {}

  /** Throws `overloaded`. */
  admit(bytes: number): Ticket {
    if (this.calls >= this.maxCalls()) throw this.refuse('calls');
    if (!this.fits(bytes, 0)) throw this.refuse('bytes');
    this.calls++;
    const ticket = new Ticket(this);
    ticket.takeBytes(bytes);
    return ticket;
  }

  takeBack(bytes: number): void {
    this.calls--;
    this.bytes -= bytes;
    if (this.calls > 0) return;
    for (const tell of this.onIdle.splice(0)) tell();
  }

  whenIdle(): Promise<void> {
    return this.calls === 0 ? Promise.resolve() : new Promise((resolve) => this.onIdle.push(resolve));
  }

  /** What one request holds alone always fits: whether that is too much is decided elsewhere. */
  fits(bytes: number, own: number): boolean {
    return this.bytes + bytes <= this.maxBytes || this.bytes === own;
  }
}

@Injectable()
export class Admission implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Admission.name);
  private readonly shares: Readonly<Record<AdmissionGroup, Share>>;
  private readonly refused;
  private readonly limit: LoadLimit;
  private timer: NodeJS.Timeout | null = null;
  private untold = 0;
  private toldAt = -Infinity;

  constructor({ admission }: AppConfig, { registry }: Metrics) {
    const { callsInFlight, bytesInFlight, eventLoopDelay } = admission;
    this.limit = new LoadLimit({
      ceiling: callsInFlight,
      floor: Math.min(callsInFlight, FLOOR),
      toleratedDelay: eventLoopDelay,
    });
    const operations = Math.max(LEAST_OPERATIONS, Math.floor(callsInFlight * OPERATIONS));
    const refusing = (group: AdmissionGroup) => (reason: Refusal) => this.refuse(group, reason);
    this.shares = {
      calls: new Share(() => this.limit.current, bytesInFlight, refusing('calls')),
      operations: new Share(() => operations, bytesInFlight * OPERATIONS, refusing('operations')),
    };
    this.refused = new Counter({
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
      this.limit.note(now - expectedAt, this.shares.calls.calls);
      expectedAt = now + LOOK;
    }, LOOK);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** `bytes` is the body that was announced. Throws `overloaded`. */
  admit(group: AdmissionGroup, bytes: number): Ticket {
    return this.shares[group].admit(bytes);
  }

  /** Resolves when no call is under way, those included whose caller has left. */
  whenIdle(): Promise<void> {
    return this.shares.calls.whenIdle();
  }

  private addGauge(registry: Metrics['registry'], name: string, help: string, of: 'calls' | 'bytes'): void {
    const { shares } = this;
    void new Gauge({
      name,
      help,
      labelNames: ['group'],
      registers: [registry],
      collect() {
        for (const [group, share] of Object.entries(shares)) this.set({ group }, share[of]);
      },
    });
  }

  /** One line for many: under overload a line for each would be part of the load. */
  private refuse(group: AdmissionGroup, reason: Refusal): AppError {
    this.refused.inc({ group, reason });
    this.untold++;
    const now = performance.now();
    if (now - this.toldAt >= SILENCE) {
      this.logger.warn({ group, reason, count: this.untold }, 'refused requests: overloaded');
      this.toldAt = now;
      this.untold = 0;
    }
    return new AppError('overloaded', { detail: DETAILS[reason], headers: { 'Retry-After': '1' } });
  }
}
