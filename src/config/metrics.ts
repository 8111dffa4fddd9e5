// The registry that every room adds its metrics to, and what /metrics shows of it.
import cluster from 'node:cluster';
import { Registry } from 'prom-client';
import { GroupMetrics, WorkerMetrics } from './group-metrics.js';

/** One of each application, so that two of them in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();
  private readonly ofWorker = cluster.isWorker ? new WorkerMetrics(this.registry) : null;
  private ofGroup: GroupMetrics | null = null;

  /** Of this process, or of all processes of its replica together where it is one of several. */
  text(): Promise<string> {
    if (this.ofWorker) return this.ofWorker.collect();
    // Once there was another process, what it has counted stays, even while there is none.
    if (!this.ofGroup && Object.keys(cluster.workers ?? {}).length === 0) return this.registry.metrics();
    this.ofGroup ??= new GroupMetrics(this.registry).open();
    return this.ofGroup.collect();
  }
}
