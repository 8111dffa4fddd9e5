// Metrics of the copy of the log in ClickHouse.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../config/metrics.js';

@Injectable()
export class HistoryMetrics {
  private readonly copied;
  private readonly failures;
  private readonly lag;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.copied = new Counter({
      name: 'signalbox_history_copied_total',
      help: 'Generations that were copied to the history.',
      registers,
    });
    this.failures = new Counter({
      name: 'signalbox_history_failures_total',
      help: 'Failed attempts to copy generations to the history; each is retried.',
      registers,
    });
    this.lag = new Gauge({
      name: 'signalbox_history_lag_seconds',
      help: 'Time since which generations may be missing in the history; two minutes are normal, and 0 without a history.',
      aggregator: 'max',
      registers,
    });
  }

  countCopied(rows: number): void {
    this.copied.inc(rows);
  }

  countFailure(): void {
    this.failures.inc();
  }

  noteLag(seconds: number): void {
    this.lag.set(seconds);
  }
}
