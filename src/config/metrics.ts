// The registry that every room adds its metrics to, and what /metrics shows of it.
import cluster from 'node:cluster';
import { Registry } from 'prom-client';
import { WorkerMetrics } from './group-metrics.js';

/** One of each application, so that two of them in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();
  private readonly ofWorkers = cluster.isWorker ? new WorkerMetrics(this.registry) : null;

  /** Of this process, or of all workers together where it is one of several. */
  text(): Promise<string> {
    return this.ofWorkers?.gather() ?? this.registry.metrics();
  }
}
