// The registry of all metrics, and the text that /metrics returns: of all processes of a replica, whichever serves the request.
// The primary collects and aggregates them.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { withTimeout } from '../concurrency/with-timeout.js';

// Milliseconds that the primary waits for a worker; beyond it the worker's last snapshot is used.
const TIMEOUT = 1_000;
// Milliseconds after which a worker gives up on the primary.
const LAST_TIMEOUT = 5_000;

type Snapshot = MetricObjectWithValues<MetricValue<string>>[];

type Message =
  /** A worker requests from the primary the metrics of all processes. */
  | { readonly signalbox: 'gather'; readonly id: number }
  | { readonly signalbox: 'gathered'; readonly id: number; readonly text: string }
  /** The primary requests each worker's own metrics. */
  | { readonly signalbox: 'give'; readonly id: number }
  | { readonly signalbox: 'given'; readonly id: number; readonly snapshot: Snapshot };

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

/** In the primary: aggregates the metrics of all workers, and its own where it serves. */
export class GroupMetrics {
  private readonly requests = new PendingRequests<Snapshot>(TIMEOUT);
  // The last snapshot of each worker. A sum without one of them would fall and rise, which reads as a restart from 0.
  private readonly snapshots = new Map<Worker, Snapshot>();
  /** The summed counts of workers that have ended. */
  private remainder: Snapshot = [];

  constructor(private readonly own: Registry | null) {}

  /** Starts to receive snapshots and to answer workers. */
  open(): this {
    cluster.on('message', (worker: Worker, message: Message) => {
      if (message.signalbox === 'given') this.hear(worker, message.id, message.snapshot);
      if (message.signalbox === 'gather') void this.answer(worker, message.id);
    });
    cluster.on('exit', (worker: Worker) => this.keepCountsOf(worker));
    return this;
  }

  async collect(): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).flatMap((worker) =>
      worker?.isConnected() ? [worker] : [],
    );
    await Promise.allSettled(
      workers.map((worker) => this.requests.send((id) => sendTo(worker, { signalbox: 'give', id }))),
    );
    const own = this.own ? [await this.own.getMetricsAsJSON()] : [];
    return AggregatorRegistry.aggregate([...own, ...this.snapshots.values(), this.remainder]).metrics();
  }

  /** A late snapshot is still the newest one. The counts of a dead worker are already in the remainder. */
  private hear(worker: Worker, id: number, snapshot: Snapshot): void {
    if (!worker.isDead()) this.snapshots.set(worker, snapshot);
    this.requests.answer(id, snapshot);
  }

  private keepCountsOf(worker: Worker): void {
    const counts = this.snapshots.get(worker)?.filter(isCount) ?? [];
    this.snapshots.delete(worker);
    // Aggregated metrics carry their values; the types do not declare it.
    this.remainder = AggregatorRegistry.aggregate([this.remainder, counts]).getMetricsAsArray() as Snapshot;
  }

  private async answer(worker: Worker, id: number): Promise<void> {
    sendTo(worker, { signalbox: 'gathered', id, text: await this.collect() });
  }
}

/** In a worker: sends its own metrics on request, and requests those of the replica. */
export class WorkerMetrics {
  private readonly requests = new PendingRequests<string>(LAST_TIMEOUT);

  constructor(registry: Registry) {
    process.on('message', (message: Message) => {
      if (message.signalbox === 'gathered') this.requests.answer(message.id, message.text);
      if (message.signalbox === 'give') void giveMetrics(registry, message.id);
    });
  }

  /** Rejects when the primary does not answer. */
  collect(): Promise<string> {
    return this.requests.send((id) => process.send?.({ signalbox: 'gather', id } satisfies Message));
  }
}

async function giveMetrics(registry: Registry, id: number): Promise<void> {
  const snapshot = await registry.getMetricsAsJSON();
  process.send?.({ signalbox: 'given', id, snapshot } satisfies Message);
}

/** Counts only grow. A gauge describes the present, and ends with its process. */
function isCount({ type }: Snapshot[number]): boolean {
  // The type is a string at run time, although the declaration is an enum.
  return ['counter', 'histogram'].includes(String(type));
}

/** Requests to another process, matched with their responses by number. */
class PendingRequests<Answer> {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private last = 0;

  constructor(private readonly timeout: number) {}

  /** Rejects when no response arrives in time. */
  send(write: (id: number) => void): Promise<Answer> {
    const id = ++this.last;
    const answered = new Promise<Answer>((resolve) => {
      this.waiting.set(id, resolve);
      write(id);
    });
    return withTimeout(answered, this.timeout, () => {
      throw new Error('the other process does not answer');
    }).finally(() => this.waiting.delete(id));
  }

  /** A late response has no request any more and is dropped. */
  answer(id: number, answer: Answer): void {
    this.waiting.get(id)?.(answer);
  }
}

/** The worker may exit before the message is sent; the failure needs no handling. */
function sendTo(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
