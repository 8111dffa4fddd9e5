// Delivery metrics for Prometheus, labelled by kind and reason. A label by destination would have no bound.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { DESTINATION_KINDS } from '../destination-kinds/index.js';
import { DROP_REASONS } from '../domain/destinations/delivery.js';
import type { DropReason } from '../domain/destinations/delivery.js';
import { Metrics } from '../config/metrics.js';

// Seconds from the end of a call to its confirmed delivery.
const LAG_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

const FAILURE_CLASSES = ['retry', 'blocked'] as const;

@Injectable()
export class DeliveryMetrics {
  private readonly delivered;
  private readonly retried;
  private readonly dropped;
  private readonly lag;
  private readonly heldBack;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.delivered = new Counter({
      name: 'signalbox_broadcast_delivered_total',
      help: 'Generations confirmed by a destination.',
      labelNames: ['kind'],
      registers,
    });
    this.retried = new Counter({
      name: 'signalbox_broadcast_failed_attempts_total',
      help: 'Failed delivery attempts; class retry: tried again soon, class blocked: paused until a change.',
      labelNames: ['kind', 'class'],
      registers,
    });
    this.dropped = new Counter({
      name: 'signalbox_broadcast_dropped_total',
      help: 'Selected generations that were not delivered, by reason.',
      labelNames: ['kind', 'reason'],
      registers,
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const { type: kind } of DESTINATION_KINDS) {
      this.delivered.inc({ kind }, 0);
      for (const failureClass of FAILURE_CLASSES) this.retried.inc({ kind, class: failureClass }, 0);
      for (const reason of DROP_REASONS) this.dropped.inc({ kind, reason }, 0);
    }
    this.lag = new Histogram({
      name: 'signalbox_broadcast_lag_seconds',
      help: 'Seconds from the end of a call to its confirmed delivery.',
      labelNames: ['kind'],
      buckets: LAG_BUCKETS,
      registers,
    });
    this.heldBack = new Gauge({
      name: 'signalbox_broadcast_held_back_seconds',
      help: 'Age in seconds of the oldest open transaction, which holds deliveries back; 0: none is open.',
      aggregator: 'max',
      registers,
    });
  }

  noteHeldBack(seconds: number): void {
    this.heldBack.set(seconds);
  }

  countDelivered(kind: string, lags: readonly number[]): void {
    this.delivered.inc({ kind }, lags.length);
    for (const milliseconds of lags) this.lag.observe({ kind }, milliseconds / 1_000);
  }

  countFailure(kind: string, failureClass: (typeof FAILURE_CLASSES)[number]): void {
    this.retried.inc({ kind, class: failureClass });
  }

  countDropped(kind: string, reason: DropReason, count: number): void {
    this.dropped.inc({ kind, reason }, count);
  }
}
