// The metrics of all workers together: whichever of them is asked, the primary gathers what each has counted.
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

/** In the primary. */
export function gatherMetricsOfWorkers(): void {
  const gatherings = new Map<number, Gathering>();
  let last = 0;
  cluster.on('message', (asking: Worker, message: Message) => {
    if (message.signalbox === 'given') gatherings.get(message.id)?.add(message.snapshot);
    if (message.signalbox !== 'gather') return;
    const id = ++last;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
    const gathering = new Gathering(workers.length, (text) => {
      gatherings.delete(id);
      tell(asking, { signalbox: 'gathered', id: message.id, text });
    });
    gatherings.set(id, gathering);
    for (const worker of workers) if (worker) tell(worker, { signalbox: 'give', id });
  });
}

class Gathering {
  private readonly snapshots: Snapshot[] = [];
  private readonly timer = setTimeout(() => void this.finish(), PATIENCE);

  constructor(
    private readonly expected: number,
    private readonly onGathered: (text: string) => void,
  ) {}

  add(snapshot: Snapshot): void {
    this.snapshots.push(snapshot);
    if (this.snapshots.length === this.expected) void this.finish();
  }

  private async finish(): Promise<void> {
    clearTimeout(this.timer);
    this.onGathered(await AggregatorRegistry.aggregate(this.snapshots).metrics());
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
  const snapshot = (await registry.getMetricsAsJSON()) as Snapshot;
  process.send?.({ signalbox: 'given', id, snapshot } satisfies Message);
}

/** A worker may be gone before it is told: there is nobody left to be told, then. */
function tell(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
