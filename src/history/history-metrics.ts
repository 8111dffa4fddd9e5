// Metrics of the copy of the log in ClickHouse.
import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../config/metrics.js';

/** Numbers of contents. */
export interface CopiedContents {
  readonly copied: number;
  /** They were skipped. */
  readonly unreadable: number;
}

const LOSSES = ['expired', 'unreadable'] as const;

@Injectable()
export class HistoryMetrics {
  private readonly copied;
  private readonly copiedContents;
  private readonly lostContents;
  private readonly failures;
  private readonly lag;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.copied = new Counter({
      name: 'signalbox_history_copied_total',
      help: 'Generations that were copied to the history.',
      registers,
    });
    this.copiedContents = new Counter({
      name: 'signalbox_history_contents_copied_total',
      help: 'Contents that were copied to the history.',
      registers,
    });
    this.lostContents = new Counter({
      name: 'signalbox_history_contents_lost_total',
      help: 'Contents that the history never gets: removed at the end of their retention before the copy, or not decryptable.',
      labelNames: ['reason'],
      registers,
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const reason of LOSSES) this.lostContents.inc({ reason }, 0);
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

  countCopied(rows: number, { copied, unreadable }: CopiedContents): void {
    this.copied.inc(rows);
    this.copiedContents.inc(copied);
    this.countLost('unreadable', unreadable);
  }

  countLost(reason: (typeof LOSSES)[number], contents: number): void {
    this.lostContents.inc({ reason }, contents);
  }

  countFailure(): void {
    this.failures.inc();
  }

  noteLag(seconds: number): void {
    this.lag.set(seconds);
  }
}
