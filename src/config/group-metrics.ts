// The metrics of all processes of a replica together: whichever of them is asked, the primary gathers what each has
// counted.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

// Milliseconds for which the primary waits for workers: of one that hangs, what it told last is shown.
const TIMEOUT = 1_000;
// Milliseconds after which a worker gives up on the primary.
const LAST_TIMEOUT = 5_000;

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
  private readonly questions = new Questions<Snapshot>(TIMEOUT);
  // What each has told last: a sum without one of them would fall and rise again, which reads as a restart from 0.
  private readonly snapshots = new Map<Worker, Snapshot>();
  /** What those had counted that have ended, all of them together. */
  private remainder: Snapshot = [];

  constructor(private readonly own: Registry | null) {}

  /** From now on the workers are heard, and those that ask are answered. */
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
      workers.map((worker) => this.questions.ask((id) => sendTo(worker, { signalbox: 'give', id }))),
    );
    const own = this.own ? [await this.own.getMetricsAsJSON()] : [];
    return AggregatorRegistry.aggregate([...own, ...this.snapshots.values(), this.remainder]).metrics();
  }

  /** Even what comes too late for the question is the newest there is; what a dead one has sent is counted already. */
  private hear(worker: Worker, id: number, snapshot: Snapshot): void {
    if (!worker.isDead()) this.snapshots.set(worker, snapshot);
    this.questions.answer(id, snapshot);
  }

  private keepCountsOf(worker: Worker): void {
    const counts = this.snapshots.get(worker)?.filter(isCount) ?? [];
    this.snapshots.delete(worker);
    // The metrics of an aggregate have their values in them, which its types do not know.
    this.remainder = AggregatorRegistry.aggregate([this.remainder, counts]).getMetricsAsArray() as Snapshot;
  }

  private async answer(worker: Worker, id: number): Promise<void> {
    sendTo(worker, { signalbox: 'gathered', id, text: await this.collect() });
  }
}

/** In a worker: gives its own metrics when it is asked to, and has those of all gathered. */
export class WorkerMetrics {
  private readonly questions = new Questions<string>(LAST_TIMEOUT);

  constructor(registry: Registry) {
    process.on('message', (message: Message) => {
      if (message.signalbox === 'gathered') this.questions.answer(message.id, message.text);
      if (message.signalbox === 'give') void giveMetrics(registry, message.id);
    });
  }

  /** Rejects when the primary does not answer. */
  collect(): Promise<string> {
    return this.questions.ask((id) => process.send?.({ signalbox: 'gather', id } satisfies Message));
  }
}

async function giveMetrics(registry: Registry, id: number): Promise<void> {
  const snapshot = await registry.getMetricsAsJSON();
  process.send?.({ signalbox: 'given', id, snapshot } satisfies Message);
}

/** What only grows. A gauge tells how things are, and ends with its process. */
function isCount({ type }: Snapshot[number]): boolean {
  // A word, whatever the types say.
  return ['counter', 'histogram'].includes(String(type));
}

/** What one process asks another, and the answers by the numbers of the questions. */
class Questions<Answer> {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private last = 0;

  constructor(private readonly timeout: number) {}

  /** Rejects when there is no answer in time. */
  ask(send: (id: number) => void): Promise<Answer> {
    const id = ++this.last;
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the other process does not answer')), this.timeout);
      this.waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send(id);
    }).finally(() => this.waiting.delete(id));
  }

  /** What comes too late is nobody's any more. */
  answer(id: number, answer: Answer): void {
    this.waiting.get(id)?.(answer);
  }
}

/** A worker may be gone before it is told: there is nobody left to be told, then. */
function sendTo(worker: Worker, message: Message): void {
  worker.send(message, () => undefined);
}
