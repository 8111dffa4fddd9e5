// What Prometheus is told of deliveries, by kind and reason; never by destination, of which there may be any number.
import { Injectable } from '@nestjs/common';
import { Counter, Histogram } from 'prom-client';
import type { DropReason } from '../domain/delivery.js';
import { Metrics } from '../config/metrics.js';

// Seconds from the end of a call to its confirmed delivery.
const LAG_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

@Injectable()
export class DeliveryMetrics {
  private readonly delivered;
  private readonly retried;
  private readonly dropped;
  private readonly lag;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.delivered = new Counter({
      name: 'signalbox_broadcast_delivered_total',
      help: 'Generations that a destination has confirmed.',
      labelNames: ['kind'],
      registers,
    });
    this.retried = new Counter({
      name: 'signalbox_broadcast_failed_attempts_total',
      help: 'Attempts to deliver that failed and are made again; class blocked: until somebody changes something.',
      labelNames: ['kind', 'class'],
      registers,
    });
    this.dropped = new Counter({
      name: 'signalbox_broadcast_dropped_total',
      help: 'Generations that a destination should have had and did not get.',
      labelNames: ['kind', 'reason'],
      registers,
    });
    this.lag = new Histogram({
      name: 'signalbox_broadcast_lag_seconds',
      help: 'From the end of a call to the confirmation of its delivery.',
      labelNames: ['kind'],
      buckets: LAG_BUCKETS,
      registers,
    });
  }

  countDelivered(kind: string, lags: readonly number[]): void {
    this.delivered.inc({ kind }, lags.length);
    for (const milliseconds of lags) this.lag.observe({ kind }, milliseconds / 1_000);
  }

  countFailure(kind: string, failureClass: 'retry' | 'blocked'): void {
    this.retried.inc({ kind, class: failureClass });
  }

  countDropped(kind: string, reason: DropReason, count: number): void {
    this.dropped.inc({ kind, reason }, count);
  }
}
