import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../config/metrics.js';

const OUTCOMES = ['delivered', 'retry', 'blocked', 'refused', 'expired'] as const;

@Injectable()
export class NotificationMetrics {
  private readonly reported;
  private readonly attempts;
  private readonly pending;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.reported = new Counter({
      name: 'signalbox_notification_events_total',
      help: 'Events of reached thresholds, one for up to 100 keys of a rule.',
      registers,
    });
    this.attempts = new Counter({
      name: 'signalbox_notification_attempts_total',
      help: 'Attempts to deliver a notification, by outcome; refused and expired: a dead letter.',
      labelNames: ['outcome'],
      registers,
    });
    this.pending = new Gauge({
      name: 'signalbox_notification_pending_events',
      help: 'Events that are not delivered yet, in all processes; counted up to 10000.',
      aggregator: 'max',
      registers,
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    this.pending.set(0);
  }

  countReported(events: number): void {
    this.reported.inc(events);
  }

  countAttempt(outcome: (typeof OUTCOMES)[number]): void {
    this.attempts.inc({ outcome });
  }

  notePending(events: number): void {
    this.pending.set(events);
  }
}
