// The metrics of all processes of a replica together: whichever of them is asked, the primary gathers what each has counted.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

// Milliseconds for which the primary waits for workers: one that hangs, or is only starting, is left out.
const PATIENCE = 1_000;
// Milliseconds after which a worker gives up on the primary.
const LAST_PATIENCE = 5_000;

type Snapshot = MetricObjectWithValues<MetricValue<string>>[];

type Message =
  /** A worker was asked for the metrics of all. */
  | { readonly signalbox: 'gather'; readonly id: number }
  | { readonly signalbox: 'gathered'; readonly id: number; readonly text: string }
  /** The primary asks each worker for its own. */
  | { readonly signalbox: 'give'; readonly id: number }
  | { readonly signalbox: 'given'; readonly id: number; readonly snapshot: Snapshot };

/** In the primary: what all workers have counted, and what it has itself where it serves. */
export class GroupMetrics {
  private readonly gatherings = new Map<number, Gathering>();
  private last = 0;

  constructor(private readonly own: Registry | null) {}

  /** From now on the workers are heard, and those that ask are answered. */
  open(): this {
    cluster.on('message', (worker: Worker, message: Message) => {
      if (message.signalbox === 'given') this.gatherings.get(message.id)?.add(message.snapshot);
      if (message.signalbox === 'gather') void this.answer(worker, message.id);
    });
    return this;
  }

  async gather(): Promise<string> {
    const own = this.own ? [await snapshotOf(this.own)] : [];
    return AggregatorRegistry.aggregate([...own, ...(await this.gatherFromWorkers())]).metrics();
  }

  private async answer(worker: Worker, id: number): Promise<void> {
    tell(worker, { signalbox: 'gathered', id, text: await this.gather() });
  }

  private async gatherFromWorkers(): Promise<readonly Snapshot[]> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
    const id = ++this.last;
    const gathering = new Gathering(workers.length);
    this.gatherings.set(id, gathering);
    for (const worker of workers) if (worker) tell(worker, { signalbox: 'give', id });
    const snapshots = await gathering.done;
    this.gatherings.delete(id);
    return snapshots;
  }
}

class Gathering {
  /** Resolves with what came when all have answered, or when nobody is waited for any longer. */
  readonly done: Promise<readonly Snapshot[]>;
  private readonly snapshots: Snapshot[] = [];
  private finish: () => void = () => undefined;

  constructor(private readonly expected: number) {
    this.done = new Promise((resolve) => {
      const timer = setTimeout(() => this.finish(), PATIENCE);
      this.finish = () => {
        clearTimeout(timer);
        resolve(this.snapshots);
      };
    });
    if (expected === 0) this.finish();
  }

  add(snapshot: Snapshot): void {
    this.snapshots.push(snapshot);
    if (this.snapshots.length === this.expected) this.finish();
  }
}

/** In a worker: gives its own metrics when it is asked to, and has those of all gathered. */
export class WorkerMetrics {
  private readonly waiting = new Map<number, (text: string) => void>();
  private last = 0;

  constructor(registry: Registry) {
    process.on('message', (message: Message) => {
      if (message.signalbox === 'gathered') this.waiting.get(message.id)?.(message.text);
      if (message.signalbox === 'give') void giveMetrics(registry, message.id);
    });
  }

  /** Rejects when the primary does not answer. */
  gather(): Promise<string> {
    const id = ++this.last;
    return new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the primary process does not answer')), LAST_PATIENCE);
      this.waiting.set(id, (text) => {
        clearTimeout(timer);
        resolve(text);
      });
      process.send?.({ signalbox: 'gather', id } satisfies Message);
    }).finally(() => this.waiting.delete(id));
  }
}

async function giveMetrics(registry: Registry, id: number): Promise<void> {
  process.send?.({ signalbox: 'given', id, snapshot: await snapshotOf(registry) } satisfies Message);
}

function snapshotOf(registry: Registry): Promise<Snapshot> {
  return registry.getMetricsAsJSON();
}

/** A worker may be gone before it is told: there is nobody left to be told, then. */
function tell(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
