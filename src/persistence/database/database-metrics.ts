// Metrics of the database: batches of the generation log, and the connection pool.
import { Injectable } from '@nestjs/common';
import { Gauge, Histogram } from 'prom-client';
import { Metrics } from '../../config/metrics.js';
import { Database } from './database.js';

const SIZE_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500];
// Seconds.
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15];

@Injectable()
export class DatabaseMetrics {
  private readonly batchSizes;
  private readonly batchDurations;

  constructor({ registry }: Metrics, database: Database) {
    const registers = [registry];
    this.batchSizes = new Histogram({
      name: 'signalbox_log_batch_generations',
      help: 'Generations appended and settled by one statement.',
      buckets: SIZE_BUCKETS,
      registers,
    });
    this.batchDurations = new Histogram({
      name: 'signalbox_log_batch_duration_seconds',
      help: 'Duration of such a statement, failed ones included.',
      buckets: DURATION_BUCKETS,
      registers,
    });
    void new Gauge({
      name: 'signalbox_database_connections',
      help: 'Connections of the pool, by state.',
      labelNames: ['state'],
      registers,
      collect() {
        const { idle, total } = database.connections();
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'busy' }, total - idle);
      },
    });
    void new Gauge({
      name: 'signalbox_database_waiting',
      help: 'Statements that wait for a connection.',
      registers,
      collect() {
        this.set(database.connections().waiting);
      },
    });
  }

  async batch<Result>(size: number, work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.batchSizes.observe(size);
      this.batchDurations.observe((performance.now() - startedAt) / 1_000);
    }
  }
}
