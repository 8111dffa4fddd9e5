// The registry of all metrics, and the text that /metrics returns.
import cluster from 'node:cluster';
import { Registry } from 'prom-client';
import { GroupMetrics, WorkerMetrics } from './group-metrics.js';

/** One for each application, so that two applications in one process do not share metrics. */
export class Metrics {
  readonly registry = new Registry();
  private readonly ofWorker = cluster.isWorker ? new WorkerMetrics(this.registry) : null;
  private ofGroup: GroupMetrics | null = null;

  /** Metrics of this process, or of all processes of its replica where there are several. */
  text(): Promise<string> {
    if (this.ofWorker) return this.ofWorker.collect();
    // Counts of ended processes remain, so the group stays in use once a second process existed.
    if (!this.ofGroup && Object.keys(cluster.workers ?? {}).length === 0) return this.registry.metrics();
    this.ofGroup ??= new GroupMetrics(this.registry).open();
    return this.ofGroup.collect();
  }
}
